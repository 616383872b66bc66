variable "owner" {
  description = "Marks everything that the team makes. Every state of the team has the same one."
  type        = string
  default     = "team-platform"
}

variable "namespace" {
  description = "Tells the environments of the team apart; it is a part of every name."
  type        = string
  default     = "dev"
}

variable "backend" {
  description = "Where the workspaces live: docker, on an engine that all of the team reach, or local."
  type        = string
  default     = "docker"
}

variable "image" {
  description = "The image of the workspaces. Null on local."
  type        = string
  default     = "debian:stable-slim"
}

variable "workspaces" {
  description = "The ids of the workspaces, and what is worked on in each."
  type        = map(string)
  default = {
    "ticket-1" = "Make the tests pass."
    "ticket-2" = "Write the release notes."
  }
}

variable "on_destroy" {
  description = "What a destroy does with a workspace: retain keeps it, purge deletes it."
  type        = string
  default     = "retain"
}
