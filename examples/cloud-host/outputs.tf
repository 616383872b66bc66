output "host" {
  description = "The name of the host, as ssh knows it."
  value       = sandlot_cloud_host.agents.name
}

output "ssh_config_path" {
  description = "For ssh -F."
  value       = sandlot_cloud_host.agents.ssh_config_path
}

output "status" {
  description = "How the host stands."
  value       = sandlot_cloud_host.agents.status
}

output "work" {
  description = "What the command in the sandbox found in its file."
  value       = trimspace(sandlot_command.work.stdout)
}
