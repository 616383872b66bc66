#!/usr/bin/env bash
# bench.sh measures the provider beside floors measured in the same run.
set -eu
. "$(dirname "$0")/lib.sh"

# Nobody's own CLI configuration takes part.
unset TF_CLI_CONFIG_FILE

scripts/setup.sh quickstart
SANDLOT_BENCH_CLI=$(find_cli)
export SANDLOT_BENCH_CLI CHECKPOINT_DISABLE=1
exec go test -timeout 30m -run '^$' -bench . -benchtime 1x ./internal/bench/...
