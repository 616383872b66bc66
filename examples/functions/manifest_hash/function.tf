locals {
  manifest = {
    name     = "shop"
    source   = { image = "debian:stable-slim" }
    commands = [["mkdir", "-p", "tools"]]
  }
}

# What sandlot_base_snapshot plans as manifest_hash for this manifest.
output "hash" {
  value = provider::sandlot::manifest_hash(local.manifest)
}

# With the bake's environment and the names that it takes from the provider's own.
output "with_environment" {
  value = provider::sandlot::manifest_hash(local.manifest, { LANG = "C.UTF-8" }, ["HTTPS_PROXY"])
}
