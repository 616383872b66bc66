variable "backend" {
  description = "Where snapshots and workspaces live: local or docker."
  type        = string
  default     = "local"
}

variable "app" {
  description = "The application that the workspaces are for. With the template it names the lane."
  type        = string
  default     = "pipeline"
}

variable "image" {
  description = "The image that the bake starts from. Docker needs one, local has none."
  type        = string
  default     = null
}

variable "system_packages" {
  description = "What the package manager of the image installs. Not possible on local."
  type        = set(string)
  default     = null
}

variable "network_mode" {
  description = "The network of the bake: deny-all, or allow-all when it downloads something."
  type        = string
  default     = "deny-all"
}

variable "manifest_version" {
  description = "The version of what is baked. Another one is baked beside the old one."
  type        = string
  default     = "1"
}

variable "refresh" {
  description = "Any other text bakes the same manifest again, for example the week: 2026-W36. Null never does."
  type        = string
  default     = null
}

variable "workspaces" {
  description = "The ids of the workspaces that this configuration provisions."
  type        = set(string)
  default     = []
}

variable "min_age" {
  description = "The age from which a former snapshot may be deleted."
  type        = string
  default     = "336h"
}

variable "keep_previous" {
  description = "How many former snapshots are kept to go back to."
  type        = number
  default     = 1
}

variable "on_destroy" {
  description = "What a destroy does: retain keeps snapshots and workspaces, purge deletes them."
  type        = string
  default     = "retain"
}
