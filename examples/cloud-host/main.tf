terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

# The token comes by HCLOUD_TOKEN, another address of the API by HCLOUD_ENDPOINT.
provider "sandlot" {
  owner    = var.owner
  data_dir = var.data_dir
}

resource "sandlot_cloud_host" "agents" {
  name            = "agents-1"
  image           = var.system_image
  docker_packages = var.docker_packages
  desired_state   = var.desired_state
  on_destroy      = var.on_destroy
}

# On the host's engine, which is there once the host is.
resource "sandlot_persistent_sandbox" "ticket" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.agents.id
  workspace_id  = "ticket-1"
  source        = { image = var.image }
  on_destroy    = var.on_destroy
}

resource "sandlot_file" "task" {
  sandbox_id = sandlot_persistent_sandbox.ticket.id
  path       = "TASK.md"
  content    = "Make the tests pass.\n"
}

resource "sandlot_command" "work" {
  sandbox_id = sandlot_file.task.sandbox_id
  command    = ["/bin/sh", "-c", "cat TASK.md; [ -e work.txt ] || date > work.txt; cat work.txt"]
}
