# A throw-away machine: its workspace goes when it is destroyed.
resource "sandlot_sandbox" "checks" {
  backend = "docker"
  name    = "checks"
  source  = { image = "debian:stable-slim" }

  cpus       = 2
  memory_mib = 1024
  network    = { mode = "deny-all" }

  environment = {
    STAGE = "checks"
  }

  setup = [
    { command = ["/bin/sh", "-c", "mkdir -p reports"] },
  ]
}
