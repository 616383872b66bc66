data "sandlot_file" "summary" {
  sandbox_id = "docker/checks"
  path       = "reports/summary.txt"
}

output "summary" {
  value = data.sandlot_file.summary.content
}
