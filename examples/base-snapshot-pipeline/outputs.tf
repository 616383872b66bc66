output "version" {
  description = "The label of the current snapshot."
  value       = sandlot_base_snapshot.agent.version
}

output "snapshot_id" {
  description = "What new workspaces start from."
  value       = sandlot_base_snapshot.agent.snapshot_id
}

output "previous_snapshot_id" {
  description = "What one would go back to."
  value       = sandlot_base_snapshot.agent.previous_snapshot_id
}

output "snapshots" {
  description = "The finished snapshots of the lane, the newest first."
  value       = [for bake in sandlot_base_snapshot.agent.history : bake.snapshot_id if bake.snapshot_id != null]
}

output "made_from" {
  description = "The snapshot that each workspace was made from."
  value       = { for id, runtime in sandlot_workspace_runtime.agent : id => runtime.applied_base_snapshot_id }
}
