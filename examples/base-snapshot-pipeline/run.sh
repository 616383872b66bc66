#!/usr/bin/env bash
# run.sh local | docker IMAGE walks through README.md, step by step, and checks what each step did.
# It deletes everything again at the end. TF names the CLI to use; the state lies beside this file.
set -eu
cd "$(dirname "$0")"
tf=${TF:-terraform}
export TF_IN_AUTOMATION=1 TF_INPUT=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

export TF_VAR_backend=${1:?local or docker}
if [ -n "${2:-}" ]; then export TF_VAR_image=$2; fi

say() { printf '==> %s\n' "$*"; }

# quietly shows what a command of the CLI says only when it fails.
quietly() {
  "$tf" "$@" -auto-approve -no-color >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
}

apply() { quietly apply; }

value() { "$tf" output -json "$1"; }

# wants WHAT FOUND EXPECTED
wants() {
  if [ "$2" != "$3" ]; then
    printf 'error: %s is %s, not %s\n' "$1" "$2" "$3" >&2
    exit 1
  fi
}

say "Bake"
export TF_VAR_manifest_version=1
apply
first=$(value snapshot_id)

say "A workspace starts from it"
export TF_VAR_workspaces='["ticket-1"]'
apply
wants "the origin of the workspace" "$(value made_from)" "{\"ticket-1\":$first}"

say "Rotate: a new version is baked beside the old one"
export TF_VAR_manifest_version=2 TF_VAR_workspaces='["ticket-1","ticket-2"]'
apply
second=$(value snapshot_id)
wants "the snapshot to go back to" "$(value previous_snapshot_id)" "$first"
wants "the origin of the workspaces" "$(value made_from)" "{\"ticket-1\":$first,\"ticket-2\":$second}"

say "Roll back: the snapshot of the old version is used again at once"
export TF_VAR_manifest_version=1
apply
wants "the current snapshot" "$(value snapshot_id)" "$first"
wants "the snapshot to go back to" "$(value previous_snapshot_id)" "$second"

say "Refresh: the same version is baked again"
export TF_VAR_refresh=2026-W36
apply
third=$(value snapshot_id)
wants "the list of snapshots" "$(value snapshots)" "[$third,$second,$first]"

say "Prune: what no workspace was made from goes with the next refresh"
export TF_VAR_keep_previous=0 TF_VAR_min_age=0s TF_VAR_on_destroy=purge
apply
export TF_VAR_workspaces='["ticket-1"]'
apply
export TF_VAR_refresh=2026-W37
apply
fourth=$(value snapshot_id)
wants "the list of snapshots" "$(value snapshots)" "[$fourth,$first]"

say "Delete all of it"
quietly destroy
say "Done"
