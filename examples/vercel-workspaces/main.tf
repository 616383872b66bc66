terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

# Token, team and project come by VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID.
provider "sandlot" {
  owner    = var.owner
  data_dir = var.data_dir
  vercel   = { base_url = var.base_url }
}

# The workspace of each ticket. Its disk outlives every session; who goes on working in it resumes it.
resource "sandlot_persistent_sandbox" "ticket" {
  for_each = var.tickets

  backend      = "vercel"
  workspace_id = each.key
  timeout      = "30m"
  environment  = { TICKET = each.key }
  network      = { mode = "restricted", allow_domains = ["github.com", "registry.npmjs.org"] }
  labels       = { team = "agents" }
  on_destroy   = var.on_destroy

  # Snapshots are billed as long as they stay. These are the two newest of each workspace, for ever.
  snapshot_retention = { keep_last = 2 }
}

resource "sandlot_file" "task" {
  for_each = var.tickets

  sandbox_id = sandlot_persistent_sandbox.ticket[each.key].id
  path       = "TASK.md"
  content    = "${each.value}\n"
}

# What an agent would do. It is the agent's work: nobody out here knows it.
resource "sandlot_command" "work" {
  for_each = var.tickets

  sandbox_id = sandlot_file.task[each.key].sandbox_id
  command = ["/bin/sh", "-c", <<-SHELL
    [ -e work.txt ] || echo "$TICKET began at $(date -u +%Y-%m-%dT%H:%M:%SZ)" > work.txt
    cat work.txt
  SHELL
  ]
}
