output "handles" {
  description = "By what clients attach to each workspace."
  value       = { for id, runtime in sandlot_workspace_runtime.agent : id => runtime.handle }
}
