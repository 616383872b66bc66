data "sandlot_backend" "docker" {
  name = "docker"
}

# Docker where an engine answers, else the embedded backend.
resource "sandlot_persistent_sandbox" "agent" {
  backend      = data.sandlot_backend.docker.available ? "docker" : "local"
  workspace_id = "ticket-4711"
  source       = data.sandlot_backend.docker.available ? { image = "debian:12-slim" } : null
}
