data "sandlot_backend" "docker" {
  backend = "docker"
}

output "docker_is_there" {
  value = data.sandlot_backend.docker.available
}
