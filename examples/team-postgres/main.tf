terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

provider "sandlot" {
  # The same for everyone who shall find these workspaces.
  owner     = var.owner
  namespace = var.namespace

  # The address of the database is SANDLOT_POSTGRES_URL: it holds a password, and it is another one in
  # jobs that may only plan.
  store = {}
}

resource "sandlot_workspace_runtime" "agent" {
  for_each = var.workspaces

  backend      = var.backend
  workspace_id = each.key
  source       = var.image == null ? null : { image = var.image }
  environment  = { TASK = each.value }
  on_destroy   = var.on_destroy
}
