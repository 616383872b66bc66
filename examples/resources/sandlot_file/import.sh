# The id is the sandbox's id and the path, separated by a colon.
terraform import sandlot_file.task local/sandlot-dev-ws-d4f8096d8f88:docs/TASK.md
