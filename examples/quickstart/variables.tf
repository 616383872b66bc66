variable "owner" {
  description = "Marks everything that this configuration makes. Required where CI is set."
  type        = string
  default     = "quickstart"
}

variable "data_dir" {
  description = "Where records and local sandboxes live. Null means the provider's default."
  type        = string
  default     = null
}

variable "workspace_id" {
  description = "The workspace that the sandboxes belong to."
  type        = string
  default     = "quickstart"
}

variable "docker_image" {
  description = "The image of the sandbox on Docker. Null leaves Docker out."
  type        = string
  default     = null
}

variable "on_destroy" {
  description = "What a destroy does with the data: retain keeps it, purge deletes it."
  type        = string
  default     = "retain"
}
