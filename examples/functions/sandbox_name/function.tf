# sandlot-dev-ws-d4f8096d8f88
output "name" {
  value = provider::sandlot::sandbox_name("ticket-4711")
}

# With a name prefix, a namespace and a generation of its own.
output "second_generation" {
  value = provider::sandlot::sandbox_name("ticket-4711", "agents", "prod", 2)
}
