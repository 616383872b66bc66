#!/usr/bin/env bash
# test.sh brings up what the tests need and runs every check; the lines of go test come last.
set -eu
. "$(dirname "$0")/lib.sh"

# Nobody's own CLI configuration takes part.
unset TF_CLI_CONFIG_FILE

scripts/setup.sh test
engine_pid=$(scripts/engine-start.sh)
one_engine
stop_engine() {
  # Only the engine that we started; setsid made it the leader of its own group.
  [ -z "$engine_pid" ] || kill "$engine_pid" 2>/dev/null || true
}
trap stop_engine EXIT

# Tests look both programs up on PATH. The names by variable are for those who have several.
SANDLOT_TEST_TOFU=$(find_tofu)
export SANDLOT_TEST_TOFU
if cli_usable terraform; then
  SANDLOT_TEST_TERRAFORM=$(command -v terraform)
  export SANDLOT_TEST_TERRAFORM
fi
PATH=$(dirname "$SANDLOT_TEST_TOFU"):$PATH
export PATH CHECKPOINT_DISABLE=1

if have npm; then
  scripts/sdk.sh
else
  say "npm is not installed: the vendor's SDK does not judge the simulator."
fi

say "go vet"
go vet ./...
go vet -tags crashtest ./...
say "lint"
make --no-print-directory lint
say "generated files"
make --no-print-directory docs-check
say "go test"
# One package at a time: tests of local sandboxes make mount namespaces by the dozen, and an engine
# that starts containers meanwhile was seen to lose their root file systems.
go test -race -p 1 -timeout 80m ./...
