terraform {
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

provider "sandlot" {
  owner     = "team-platform"
  namespace = "staging"
}

resource "sandlot_persistent_sandbox" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
}
