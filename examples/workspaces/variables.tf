variable "backend" {
  description = "Where the workspaces live: local or docker."
  type        = string
  default     = "local"
}

variable "app" {
  description = "The application that the workspaces are for."
  type        = string
  default     = "workspaces"
}

variable "image" {
  description = "The image of the workspaces. Docker needs one, local has none."
  type        = string
  default     = null
}

variable "workspaces" {
  description = "The workspaces by their ids."
  type = map(object({
    task        = string
    environment = optional(map(string), {})
    stopped     = optional(bool, false)
  }))
  default = {
    "ticket-1" = { task = "Make the tests pass." }
    "ticket-2" = { task = "Write the release notes.", environment = { AUDIENCE = "users" } }
  }
}

variable "on_destroy" {
  description = "What a destroy does: retain keeps workspaces and snapshots, purge deletes them."
  type        = string
  default     = "retain"
}

variable "min_age" {
  description = "The age from which a snapshot may be deleted. 0s suits a preview that is thrown away."
  type        = string
  default     = "336h"
}
