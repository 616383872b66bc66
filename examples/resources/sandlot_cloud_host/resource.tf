resource "sandlot_cloud_host" "agents" {
  name         = "agents-1"
  server_type  = "cx23"
  location     = "fsn1"
  idle_timeout = "2h"
  labels       = { team = "agents" }
}

# A sandbox on its Docker Engine, made in the same apply.
resource "sandlot_persistent_sandbox" "agent" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.agents.id
  workspace_id  = "ticket-4711"
  source        = { image = "debian:stable-slim" }
}
