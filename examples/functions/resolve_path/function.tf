# /workspace/docs/TASK.md
output "path" {
  value = provider::sandlot::resolve_path("/workspace", "docs/TASK.md")
}
