#!/usr/bin/env bash
# quickstart.sh up|purge applies examples/quickstart in .build/quickstart, shows that data survives
# a destroy, or purges all of it. It touches nothing outside .build, apart from what the Docker
# Engine keeps under the owner label of this work tree.
set -eu
. "$(dirname "$0")/lib.sh"

action=${1:?up or purge}
dir=$build/quickstart
imported_image=sandlot-quickstart:busybox
default_image=${QUICKSTART_IMAGE:-debian:stable-slim}

if [ "$action" = purge ] && [ ! -d "$dir" ]; then
  say "There is no quickstart to purge."
  exit 0
fi

scripts/setup.sh quickstart
cli=${SANDLOT_CLI:-}
[ -n "$cli" ] || [ ! -s "$dir/cli" ] || cli=$(cat "$dir/cli")
[ -n "$cli" ] && cli_usable "$cli" || cli=$(find_cli)
say "Using $(basename "$cli") $(cli_version "$cli") and building the provider"
make -s build

engine=$(tool engine)
one_engine
mkdir -p "$dir"
chmod 700 "$dir"
cp examples/quickstart/*.tf "$dir"
if [ -s "$dir/cli" ] && [ "$(basename "$(cat "$dir/cli")")" != "$(basename "$cli")" ]; then
  # Neither CLI reads the other's state for sure. It is not needed: the sandboxes are found by record.
  rm -f "$dir"/terraform.tfstate*
fi
echo "$cli" >"$dir/cli"
write_cli_config "$build/cli.tfrc"
export TF_CLI_CONFIG_FILE=$build/cli.tfrc TF_IN_AUTOMATION=1 CHECKPOINT_DISABLE=1

# Two work trees share an engine, so each has a workspace and an owner of its own.
id=quickstart-$(printf %s "$root" | cksum | cut -d ' ' -f 1)

# choose_image prints an image for Docker, nothing when Docker is to be left out. The choice is
# kept in a file ("NAME present|pulled|imported"), since another image means another sandbox.
choose_image() {
  local kept='' name how
  [ ! -s "$dir/image" ] || kept=$(cat "$dir/image")
  if ! "$engine" ping 2>/dev/null; then
    [ -z "$kept" ] || die "The quickstart also lives on a Docker Engine that does not answer now; start it and try again."
    say "No Docker Engine answers, so only the local backend is shown" >&2
    return
  fi
  name=${kept% *}
  name=${name:-$default_image}
  if [ "$name" != "$imported_image" ] && how=$("$engine" ensure "$name" 120s 2>/dev/null); then
    [ -n "$kept" ] || echo "$name $how" >"$dir/image"
  elif [ -n "$kept" ] && [ "$name" != "$imported_image" ]; then
    die "The image $name of the sandbox on Docker is gone and cannot be pulled."
  elif import_busybox; then
    [ -n "$kept" ] || say "$name cannot be pulled here: using an image made from busybox" >&2
    name=$imported_image
    echo "$name imported" >"$dir/image"
  else
    say "$name cannot be pulled here, so only the local backend is shown" >&2
    return
  fi
  echo "$name"
}

import_busybox() {
  scripts/setup.sh busybox >&2 && "$engine" import "$imported_image" "$(command -v busybox)"
}

color=()
[ -t 1 ] || color=(-no-color)
tf() { "$cli" -chdir="$dir" "$@"; }
apply() { tf apply -input=false -auto-approve -compact-warnings "${color[@]}" "$@"; }
destroy() { tf destroy -input=false -auto-approve "${color[@]}" "$@"; }

# apply_briefly is apply without showing the plan once more.
apply_briefly() {
  tf plan -input=false -out=again.tfplan "${color[@]}" >"$dir/plan.log" || {
    cat "$dir/plan.log"
    return 1
  }
  tf apply -input=false -compact-warnings "${color[@]}" again.tfplan
  rm -f "$dir/again.tfplan"
}

docker_image=$(choose_image) || exit
{
  echo "owner        = \"$id\""
  echo "workspace_id = \"$id\""
  echo "data_dir     = \"$dir/data\""
  [ -z "$docker_image" ] || echo "docker_image = \"$docker_image\""
} >"$dir/terraform.tfvars"

if [ "$action" = purge ]; then
  say "Setting on_destroy = \"purge\": deleting data always takes a visible step first"
  apply -var on_destroy=purge
  say "Destroying"
  destroy -var on_destroy=purge
  case $(cat "$dir/image" 2>/dev/null) in
  *" imported" | *" pulled") "$engine" remove "$(cut -d ' ' -f 1 "$dir/image")" ;;
  esac
  left=$(find "$dir/data/local/sandboxes" -mindepth 1 -maxdepth 1 2>/dev/null || true)
  [ -z "$docker_image" ] || left=$left$("$engine" leftovers "$id")
  [ -z "$left" ] || die "Something was left behind: $left"
  rm -rf "$dir"
  say "Nothing is left."
  exit 0
fi

say "First apply"
apply
before=$(tf output -json work)

say "Destroying; on_destroy is \"retain\""
destroy

say "Second apply: the workspace is the same, so its sandboxes are attached again"
apply_briefly
after=$(tf output -json work)

case $before in *made*) ;; *) die "The commands inside wrote nothing: $before" ;; esac
[ "$before" = "$after" ] || die "The file written inside changed: $before became $after"
say "The file that a command wrote inside has survived the destroy:"
tf output work
cat <<TEXT

Look around in .build/quickstart:
  TF_CLI_CONFIG_FILE=$build/cli.tfrc $(basename "$cli") -chdir=.build/quickstart plan
Run it again with \`make quickstart\`, delete it all with \`make quickstart-destroy\`.
TEXT
