#!/usr/bin/env bash
# run.sh walks through README.md against a simulated Hetzner Cloud with real machines behind it, and checks
# what each step did. With HCLOUD_TOKEN set it uses the platform itself, which costs money.
# TF names the CLI to use, SIM the simulator's command, IMAGE what the sandbox runs from.
set -eu
cd "$(dirname "$0")"
tf=${TF:-terraform}
export TF_IN_AUTOMATION=1 TF_INPUT=0 TF_VAR_image=${IMAGE:-debian:stable-slim}
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

output() { "$tf" output -raw "$1"; }

if [ -z "${HCLOUD_TOKEN:-}" ]; then
  say "Serve a simulated Hetzner Cloud with real machines (some minutes the first time)"
  docker image inspect "$TF_VAR_image" >/dev/null 2>&1 || docker pull --quiet "$TF_VAR_image"
  if [ -z "${SIM:-}" ]; then
    SIM=$work/sandlot-sim
    go build -o "$SIM" ../../internal/simulator/sandlot-sim
  fi
  "$SIM" hetzner -machines -preinstalled -image "$TF_VAR_image" >"$work/address" 2>"$work/simulator" &
  simulator=$!
  while [ "$(wc -l <"$work/address")" -lt 2 ]; do
    kill -0 "$simulator" 2>/dev/null || {
      cat "$work/simulator" >&2
      exit 1
    }
    sleep 0.2
  done
  HCLOUD_ENDPOINT=$(sed -n 1p "$work/address")
  HCLOUD_TOKEN=$(sed -n 2p "$work/address")
  # The machines are Debian, and have what Debian has.
  export HCLOUD_ENDPOINT HCLOUD_TOKEN TF_VAR_system_image=debian-13 TF_VAR_docker_packages=distribution
fi

say "Make a host, and a sandbox on it, in one apply"
quietly apply
first=$(output work)
host=$(output host)
address=$(ssh -F "$(output ssh_config_path)" "$host" hostname)
wants "the name of the machine" "$address" "$host"

say "Put it to sleep: it is billed on"
quietly apply -var desired_state=sleeping
wants "the status" "$(output status)" sleeping

say "Wake it: the same disk, address and key"
quietly apply
wants "the work" "$(output work)" "$first"
ssh -F "$(output ssh_config_path)" "$host" true

say "Throw it away, in two steps"
quietly apply -var on_destroy=purge
quietly destroy
