terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

# owner, store and data directory come from the environment: SANDLOT_OWNER, SANDLOT_POSTGRES_URL,
# SANDLOT_DATA_DIR.
provider "sandlot" {}

locals {
  # Without a source, local uses the host's own system, read-only; Docker needs an image.
  source = var.image == null ? null : { image = var.image }
}

# What every new workspace starts from. A changed manifest bakes a new snapshot beside the old one;
# the lane points at it once it has passed the checks.
resource "sandlot_base_snapshot" "agent" {
  backend  = var.backend
  app      = var.app
  template = "agent"

  manifest = {
    name            = "agent"
    source          = local.source
    system_packages = var.system_packages

    # Argument vectors, in order. They run in the workspace, without a shell unless one is the program.
    commands = [
      ["mkdir", "-p", "bin", "cache"],
      ["sh", "-c", "date -u +%Y-%m-%dT%H:%M:%SZ > cache/filled"],
    ]

    template_files = {
      "bin/hello" = { source = "${path.module}/template/hello", mode = "0755" }
      "VERSION"   = { content = "${var.manifest_version}\n" }
    }
    template_version = var.manifest_version
  }

  # Run before the snapshot is taken, and once more in a sandbox made from it.
  smoke_checks = [
    { command = ["./bin/hello"], expect = "version ${var.manifest_version}" },
  ]

  # The same manifest is baked again when this changes: a week, a date, the digest of an image.
  rebake_trigger = var.refresh

  retention = {
    min_age       = var.min_age
    keep_previous = var.keep_previous
    purge         = true
  }
  on_destroy = var.on_destroy

  # The bake needs the network only for what it downloads. On local there is none without this.
  network = { mode = var.network_mode }
}

# The workspaces of this pipeline. Other configurations find the snapshot by the data source
# sandlot_base_snapshot.
resource "sandlot_workspace_runtime" "agent" {
  for_each = var.workspaces

  backend      = var.backend
  workspace_id = each.key
  source       = local.source
  base_snapshot = {
    id      = sandlot_base_snapshot.agent.snapshot_id
    version = sandlot_base_snapshot.agent.version
  }
  on_destroy = var.on_destroy
}
