# The id is the backend and the name, as `provider::sandlot::sandbox_name` derives it.
terraform import sandlot_workspace_runtime.agent local/sandlot-dev-ws-d4f8096d8f88
