data "sandlot_orphans" "all" {}

# Servers, addresses and keys that are billed and that no record knows.
output "orphans" {
  value = [for o in data.sandlot_orphans.all.orphans : "${o.kind} ${o.id} ${o.name}"]
}
