#!/usr/bin/env bash
# hcl-fmt.sh [-check] formats the HCL under examples/, or fails when that would change something.
set -eu
. "$(dirname "$0")/lib.sh"

unset TF_CLI_CONFIG_FILE

exec "$(find_cli)" fmt -recursive "$@" examples
