#!/usr/bin/env bash
# hcl-fmt.sh [-check] formats the HCL under examples/, or fails when that would change something.
set -eu
. "$(dirname "$0")/lib.sh"

exec "$(find_cli)" fmt -recursive "$@" examples
