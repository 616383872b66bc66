#!/usr/bin/env bash
# run.sh walks through README.md against a simulated Vercel Sandbox, and checks what each step did.
# With VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID set it uses the platform itself, and the state
# lies beside this file; what is simulated goes with the simulator. TF names the CLI to use, SIM the
# simulator's command. In a checkout the provider is built, unless TF_CLI_CONFIG_FILE says where it is.
set -eu
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
tf=${TF:-terraform}
export TF_IN_AUTOMATION=1 TF_INPUT=0
work=$(mktemp -d)
simulator=

cleanup() {
  if [ -n "$simulator" ]; then
    kill "$simulator" 2>/dev/null || true
    wait "$simulator" || true
  fi
  rm -rf "$work"
}
trap cleanup EXIT

say() { printf '==> %s\n' "$*"; }

# quietly shows what a command of the CLI says only when it fails.
quietly() {
  "$tf" "$@" -auto-approve -no-color >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
}

# wants WHAT FOUND EXPECTED
wants() {
  if [ "$2" != "$3" ]; then
    printf 'error: %s is %s, not %s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

if [ -z "${TF_CLI_CONFIG_FILE:-}" ] && [ -f "$root/internal/provider/provider.go" ]; then
  say "Build the provider"
  mkdir "$work/plugin"
  (cd "$root" && go build -o "$work/plugin/terraform-provider-sandlot" .)
  export TF_CLI_CONFIG_FILE=$work/cli.tfrc
  printf 'provider_installation {\n  dev_overrides {\n    "sandlot-dev/sandlot" = "%s"\n  }\n  direct {}\n}\n' \
    "$work/plugin" >"$TF_CLI_CONFIG_FILE"
fi

if [ -z "${VERCEL_TOKEN:-}" ] && [ -z "${VERCEL_OIDC_TOKEN:-}" ]; then
  say "Serve a simulated Vercel Sandbox"
  if [ -z "${SIM:-}" ]; then
    SIM=$work/sandlot-sim
    (cd "$root" && go build -o "$SIM" ./internal/simulator/sandlot-sim)
  fi
  "$SIM" vercel >"$work/address" 2>"$work/simulator" &
  simulator=$!
  for _ in $(seq 100); do
    if [ "$(wc -l <"$work/address")" -ge 2 ]; then break; fi
    sleep 0.1
  done
  TF_VAR_base_url=$(sed -n 1p "$work/address")
  VERCEL_TOKEN=$(sed -n 2p "$work/address")
  export TF_VAR_base_url VERCEL_TOKEN VERCEL_TEAM_ID=team_simulated VERCEL_PROJECT_ID=prj_simulated
  # No state may outlive what it tells of.
  mkdir "$work/config"
  cp ./*.tf "$work/config"
  cd "$work/config"
  export TF_VAR_data_dir="${TF_VAR_data_dir:-$work/data}"
fi

say "Make a workspace and work in it"
quietly apply
first=$("$tf" output -json work)

say "Let go of it: it is stopped, its data stays"
quietly destroy

say "Take it back: the work is still there"
quietly apply
wants "the work" "$("$tf" output -json work)" "$first"

say "Throw it away, in two steps"
quietly apply -var on_destroy=purge
quietly destroy
