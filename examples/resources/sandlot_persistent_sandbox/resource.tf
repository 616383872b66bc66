variable "api_token" {
  type      = string
  ephemeral = true
}

# The machine of one workspace. Its name is derived from workspace_id; a destroy keeps its data,
# and applying this again attaches it again.
resource "sandlot_persistent_sandbox" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"

  # Never in state or plan. Raise the version to hand a new value over.
  secret_environment_wo         = { API_TOKEN = var.api_token }
  secret_environment_wo_version = 1

  on_destroy = "retain"
}
