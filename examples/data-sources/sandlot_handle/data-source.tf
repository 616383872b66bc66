resource "sandlot_workspace_runtime" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}

data "sandlot_handle" "agent" {
  record_id = sandlot_workspace_runtime.agent.record_id
  shape     = "workspace-resource"
}

# The record for an application to file.
output "record" {
  value = data.sandlot_handle.agent.json
}

# One value of it.
output "handle" {
  value = provider::sandlot::parse_handle(data.sandlot_handle.agent.json).handle
}
