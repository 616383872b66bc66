output "sandboxes" {
  description = "The name of each workspace's sandbox, by which the SDK gets it: Sandbox.get({ name })."
  value       = { for ticket, sandbox in sandlot_persistent_sandbox.ticket : ticket => sandbox.name }
}

output "work" {
  description = "What the command inside each workspace found in its file."
  value       = { for ticket, command in sandlot_command.work : ticket => trimspace(command.stdout) }
}
