resource "sandlot_base_snapshot" "shop" {
  backend = "local"
  app     = "shop"

  manifest = {
    name     = "shop"
    commands = [["mkdir", "-p", "tools"]]
  }
}

resource "sandlot_workspace_runtime" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"

  # Where a new workspace starts. One that exists keeps its own data, whatever is baked later.
  base_snapshot = {
    id      = sandlot_base_snapshot.shop.snapshot_id
    version = sandlot_base_snapshot.shop.version
  }

  # Written when the workspace is made. Another version brings an existing workspace there.
  template = {
    version = "1"
    files = {
      "TASK.md" = { content = "Make the tests pass.\n" }
    }
    migrate = {
      command = ["/bin/sh", "-c", "echo \"from $SANDLOT_TEMPLATE_FROM to $SANDLOT_TEMPLATE_TO\" >> UPGRADES"]
      verify  = ["test", "-s", "UPGRADES"]
    }
  }
}
