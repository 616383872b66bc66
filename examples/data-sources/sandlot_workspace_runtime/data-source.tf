# A workspace of the same owner, also when another configuration made it.
data "sandlot_workspace_runtime" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}

output "agent" {
  value = data.sandlot_workspace_runtime.agent.exists ? data.sandlot_workspace_runtime.agent.handle : "none yet"
}
