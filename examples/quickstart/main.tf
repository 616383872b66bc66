terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

provider "sandlot" {
  owner    = var.owner
  data_dir = var.data_dir
}

locals {
  # One configuration, one entry a backend. Without a source, local uses the host's own system,
  # read-only; Docker needs an image.
  sources = merge(
    { local = null },
    var.docker_image == null ? {} : { docker = { image = var.docker_image } },
  )
}

# The machine an agent works in. Its name comes from workspace_id, so the same workspace is found
# again after a destroy that retains.
resource "sandlot_persistent_sandbox" "agent" {
  for_each = local.sources

  backend      = each.key
  workspace_id = var.workspace_id
  source       = each.value
  network      = { mode = "deny-all" }
  on_destroy   = var.on_destroy
}

# A file that the configuration manages.
resource "sandlot_file" "task" {
  for_each = local.sources

  sandbox_id = sandlot_persistent_sandbox.agent[each.key].id
  path       = "TASK.md"
  content    = "Say hello and remember when it was the first time.\n"
}

# A command inside. The file that it writes is known to nobody out here: it is the agent's work.
resource "sandlot_command" "work" {
  for_each = local.sources

  sandbox_id = sandlot_file.task[each.key].sandbox_id
  command = ["/bin/sh", "-c", <<-SHELL
    [ -e work.txt ] || echo "made $(date -u +%Y-%m-%dT%H:%M:%SZ), $(cat /proc/sys/kernel/random/uuid)" > work.txt
    cat work.txt
  SHELL
  ]
}
