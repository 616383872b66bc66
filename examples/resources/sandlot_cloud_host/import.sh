# By owner and name. The record has to be in the provider's store: keys cannot be read back from the platform.
terraform import sandlot_cloud_host.agents hetzner/team-a/agents-1
