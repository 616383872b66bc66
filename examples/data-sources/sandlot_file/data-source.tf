resource "sandlot_persistent_sandbox" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}

data "sandlot_file" "summary" {
  record_id = sandlot_persistent_sandbox.agent.record_id
  path      = "reports/summary.txt"
}

output "summary" {
  value = data.sandlot_file.summary.exists ? data.sandlot_file.summary.content : "none yet"
}
