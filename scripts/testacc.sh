#!/usr/bin/env bash
# testacc.sh [PATTERN] runs the tests that drive the real CLIs; make test runs them too.
set -eu
. "$(dirname "$0")/lib.sh"

# Nobody's own CLI configuration takes part.
unset TF_CLI_CONFIG_FILE

SANDLOT_TEST_TOFU=$(find_tofu)
export SANDLOT_TEST_TOFU
PATH=$(dirname "$SANDLOT_TEST_TOFU"):$PATH
export PATH CHECKPOINT_DISABLE=1
exec go test -count=1 -timeout 40m -run "${1:-.}" ./internal/acceptance/... ./internal/provider/...
