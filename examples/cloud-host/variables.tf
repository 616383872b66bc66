variable "owner" {
  description = "Marks everything that this configuration makes. Required where CI is set."
  type        = string
  default     = "cloud-host"
}

variable "data_dir" {
  description = "Where records and keys live. Null means the provider's default."
  type        = string
  default     = null
}

variable "image" {
  description = "What the sandbox runs from."
  type        = string
  default     = "debian:stable-slim"
}

variable "system_image" {
  description = "The system of the host."
  type        = string
  default     = "ubuntu-24.04"
}

variable "docker_packages" {
  description = "Where the host gets Docker from: docker, distribution or none."
  type        = string
  default     = "docker"
}

variable "desired_state" {
  description = "running or sleeping."
  type        = string
  default     = "running"
}

variable "on_destroy" {
  description = "What a destroy does with host and sandbox: retain, which is billed on, or purge."
  type        = string
  default     = "retain"
}
