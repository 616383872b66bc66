resource "sandlot_persistent_sandbox" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}

# An argument list, never a line for a shell, unless a shell is the program.
resource "sandlot_command" "init" {
  sandbox_id = sandlot_persistent_sandbox.agent.id
  command    = ["git", "init", "--quiet", "repository"]
  timeout    = "1m"

  # Runs again when this changes.
  triggers = { version = "1" }
}
