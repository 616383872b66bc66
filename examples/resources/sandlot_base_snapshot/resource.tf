# What new workspaces start from. The lane is docker/shop/default.
resource "sandlot_base_snapshot" "shop" {
  backend = "docker"
  app     = "shop"

  manifest = {
    name   = "shop"
    source = { image = "debian:stable-slim" }

    commands = [
      ["/bin/sh", "-c", "mkdir -p tools && echo installed > tools/state"],
    ]
    template_files = {
      "AGENTS.md" = { content = "Run the tests before you say that you are done.\n" }
    }
  }

  smoke_checks = [
    { command = ["cat", "tools/state"], expect = "installed" },
  ]

  # After a rotation, former snapshots older than two weeks are deleted, but for the last two.
  retention = {
    min_age       = "336h"
    keep_previous = 2
    purge         = true
  }
}
