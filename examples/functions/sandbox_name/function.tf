output "name" {
  value = provider::sandlot::sandbox_name("sandlot", "dev", "ticket-4711")
}
