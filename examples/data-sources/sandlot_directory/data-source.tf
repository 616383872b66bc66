data "sandlot_directory" "reports" {
  sandbox_id = "docker/checks"
  path       = "reports"
}
