terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

provider "sandlot" {}

locals {
  # Without a source, local uses the host's own system, read-only; Docker needs an image.
  source = var.image == null ? null : { image = var.image }
}

# What all workspaces share. It is baked once.
resource "sandlot_base_snapshot" "shared" {
  backend = var.backend
  app     = var.app

  manifest = {
    name     = "shared"
    source   = local.source
    commands = [["mkdir", "-p", "reports"]]
    template_files = {
      "bin" = { source = "${path.module}/files" } # a directory with all that is in it
    }
  }
  smoke_checks = [{ command = ["./bin/report", "--help"], expect = "usage" }]
  retention    = { min_age = var.min_age }
  on_destroy   = var.on_destroy
}

# One workspace for each entry of the map. Its key is the workspace id, so that adding or removing an
# entry touches no other workspace.
resource "sandlot_workspace_runtime" "agent" {
  for_each = var.workspaces

  backend      = var.backend
  workspace_id = each.key
  source       = local.source
  base_snapshot = {
    id      = sandlot_base_snapshot.shared.snapshot_id
    version = sandlot_base_snapshot.shared.version
  }

  # What differs between workspaces. It is written when the workspace is made.
  template = {
    version = "1"
    files = {
      "TASK.md" = {
        content = templatefile("${path.module}/TASK.md.tftpl", { id = each.key, task = each.value.task })
      }
    }
  }

  environment   = each.value.environment
  desired_state = each.value.stopped ? "stopped" : null
  on_destroy    = var.on_destroy
}
