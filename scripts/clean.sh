#!/usr/bin/env bash
# clean.sh removes what was built. The quickstart's sandboxes hold data, so they stay until
# `make quickstart-destroy` purges them.
set -eu
. "$(dirname "$0")/lib.sh"

rm -rf dist
find .build -mindepth 1 -maxdepth 1 ! -name quickstart -exec rm -rf {} +
if [ -d .build/quickstart ]; then
  say "Kept .build/quickstart; make quickstart-destroy removes it."
else
  rmdir .build
fi
