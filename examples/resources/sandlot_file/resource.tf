resource "sandlot_persistent_sandbox" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}

resource "sandlot_file" "task" {
  sandbox_id = sandlot_persistent_sandbox.agent.id
  path       = "docs/TASK.md"
  content    = "Make the tests pass.\n"
  mode       = "0644"
}

# Written once; what the agent makes of it is left alone.
resource "sandlot_file" "notes" {
  sandbox_id = sandlot_persistent_sandbox.agent.id
  path       = "NOTES.md"
  content    = "# Notes\n"
  overwrite  = false
}
