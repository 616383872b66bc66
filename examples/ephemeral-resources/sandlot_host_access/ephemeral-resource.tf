resource "sandlot_cloud_host" "agents" {
  name = "agents-1"
}

ephemeral "sandlot_host_access" "agents" {
  record_id = sandlot_cloud_host.agents.record_id
}

# A sandbox that may log in to the host. Neither state nor plan keeps the key.
resource "sandlot_sandbox" "deployer" {
  backend = "docker"
  name    = "deployer"
  source  = { image = "debian:stable-slim" }
  secret_environment_wo = {
    KNOWN_HOSTS = ephemeral.sandlot_host_access.agents.known_hosts
    PRIVATE_KEY = ephemeral.sandlot_host_access.agents.private_key
  }
  secret_environment_wo_version = 1
}
