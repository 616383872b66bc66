data "sandlot_sandboxes" "local" {
  backend = "local"
}

output "names" {
  value = [for sandbox in data.sandlot_sandboxes.local.sandboxes : sandbox.name]
}
