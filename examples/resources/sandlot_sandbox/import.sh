# The id is the backend and the name.
terraform import sandlot_sandbox.checks docker/checks
