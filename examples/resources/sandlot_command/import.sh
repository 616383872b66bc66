# The id is the sandbox's id and any text, separated by a colon. The command is taken as run.
terraform import sandlot_command.init local/sandlot-dev-ws-d4f8096d8f88:imported
