# Another configuration with a state of its own, for example of the service that hands workspaces to
# agents. It sees what the other one made, since owner, namespace and database are the same. It changes
# nothing, so that the read-only role is enough.
terraform {
  required_version = ">= 1.11"
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}

variable "owner" {
  description = "The owner of the workspaces."
  type        = string
  default     = "team-platform"
}

variable "namespace" {
  description = "The namespace of the workspaces."
  type        = string
  default     = "dev"
}

variable "backend" {
  description = "Where the workspaces live."
  type        = string
  default     = "docker"
}

variable "workspace_id" {
  description = "The workspace to look at."
  type        = string
  default     = "ticket-1"
}

provider "sandlot" {
  owner     = var.owner
  namespace = var.namespace
  store     = {}
}

data "sandlot_workspace_runtime" "agent" {
  backend      = var.backend
  workspace_id = var.workspace_id
}

# The record, in the shape that fits every backend. It exists only where the workspace does.
data "sandlot_handle" "agent" {
  count = data.sandlot_workspace_runtime.agent.exists ? 1 : 0

  record_id = data.sandlot_workspace_runtime.agent.record_id
  shape     = "workspace-resource"
}

output "state" {
  description = "How far the workspace is; null when there is none."
  value       = data.sandlot_workspace_runtime.agent.state
}

output "handle" {
  description = "The record of the workspace as JSON; null when there is none."
  value       = one(data.sandlot_handle.agent[*].json)
}
