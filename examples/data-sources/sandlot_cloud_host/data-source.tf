resource "sandlot_cloud_host" "agents" {
  name = "agents-1"
}

data "sandlot_cloud_host" "agents" {
  record_id = sandlot_cloud_host.agents.record_id
}

output "status" {
  value = data.sandlot_cloud_host.agents.status
}
