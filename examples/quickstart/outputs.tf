output "sandboxes" {
  description = "The identity of each sandbox."
  value       = { for backend, sandbox in sandlot_persistent_sandbox.agent : backend => sandbox.id }
}

output "work" {
  description = "What the command inside each sandbox found in its file."
  value       = { for backend, command in sandlot_command.work : backend => trimspace(command.stdout) }
}
