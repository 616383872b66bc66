variable "owner" {
  description = "Marks everything that this configuration makes. Required where CI is set."
  type        = string
  default     = "vercel-workspaces"
}

variable "data_dir" {
  description = "Where records live. Null means the provider's default."
  type        = string
  default     = null
}

variable "base_url" {
  description = "The address of the API. Null means the platform itself."
  type        = string
  default     = null
}

variable "tickets" {
  description = "What is to be done, by ticket."
  type        = map(string)
  default     = { "ticket-1" = "Make the tests pass." }
}

variable "on_destroy" {
  description = "What a destroy does with the workspaces: retain or purge."
  type        = string
  default     = "retain"
}
