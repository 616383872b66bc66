# Another configuration of the same owner bakes this lane.
data "sandlot_base_snapshot" "shop" {
  backend = "local"
  app     = "shop"
}

# From the base snapshot where there is a usable one, else from the backend's default.
resource "sandlot_workspace_runtime" "agent" {
  backend      = "local"
  workspace_id = "ticket-4711"
  base_snapshot = data.sandlot_base_snapshot.shop.status != "ready" ? null : {
    id      = data.sandlot_base_snapshot.shop.snapshot_id
    version = data.sandlot_base_snapshot.shop.version
  }
}
