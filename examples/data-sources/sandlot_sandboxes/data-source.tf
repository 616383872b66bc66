# What this owner keeps on this machine, also what no configuration holds any more.
data "sandlot_sandboxes" "kept" {
  backend = "local"
  kind    = "persistent"
}

output "ids" {
  value = [for sandbox in data.sandlot_sandboxes.kept.sandboxes : sandbox.id]
}
