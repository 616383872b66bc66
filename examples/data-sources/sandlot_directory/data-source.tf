resource "sandlot_persistent_sandbox" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}

data "sandlot_directory" "workspace" {
  record_id = sandlot_persistent_sandbox.agent.record_id
  recursive = true
}

output "files" {
  value = [for entry in data.sandlot_directory.workspace.entries : entry.path if entry.type == "file"]
}
