output "handles" {
  description = "By what clients attach to each workspace. The data source sandlot_handle prints whole records."
  value       = { for id, runtime in sandlot_workspace_runtime.agent : id => runtime.handle }
}

output "agent_environment" {
  description = "What to put into the environment of the agent server of each workspace."
  value       = { for id, runtime in sandlot_workspace_runtime.agent : id => runtime.agent_environment }
}

output "states" {
  description = "How far each workspace is."
  value       = { for id, runtime in sandlot_workspace_runtime.agent : id => runtime.state }
}
