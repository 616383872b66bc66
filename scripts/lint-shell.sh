#!/usr/bin/env bash
# lint-shell.sh checks the scripts when shellcheck is installed.
set -eu
. "$(dirname "$0")/lib.sh"

if have shellcheck; then
  shellcheck -x -P scripts scripts/*.sh .ci/run
else
  say "shellcheck is not installed: scripts not checked."
fi
