# Shared by the other scripts, which source it. It moves to the root of the repository.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
root=$PWD
build=$root/.build
mkdir -p "$build/bin"

say() { printf '==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# tool NAME makes sure that a pinned tool is built and prints its path.
tool() {
  make -s ".build/bin/$1" >&2
  printf '%s\n' "$build/bin/$1"
}

# cli_version PROGRAM prints the version of a Terraform or OpenTofu program, nothing when it
# does not run.
cli_version() {
  CHECKPOINT_DISABLE=1 "$1" version -json 2>/dev/null </dev/null |
    sed -n 's/.*"terraform_version": *"\([^"]*\)".*/\1/p'
}

# cli_usable PROGRAM tells whether it is there and at least 1.11.
cli_usable() {
  local version major minor
  have "$1" || return 1
  version=$(cli_version "$1") || return 1
  major=${version%%.*}
  minor=${version#*.}
  minor=${minor%%.*}
  case $major$minor in '' | *[!0-9]*) return 1 ;; esac
  [ "$major" -gt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -ge 11 ]; }
}

# find_tofu prints an OpenTofu of at least 1.11: the one on PATH, else the pinned one, which is
# built when it is missing.
find_tofu() {
  if cli_usable tofu; then
    command -v tofu
  else
    tool tofu
  fi
}

# find_cli prints the Terraform or OpenTofu to use. SANDLOT_CLI overrides the choice.
find_cli() {
  if [ -n "${SANDLOT_CLI:-}" ]; then
    cli_usable "$SANDLOT_CLI" || die "SANDLOT_CLI=$SANDLOT_CLI is not a Terraform or OpenTofu of at least 1.11."
    command -v "$SANDLOT_CLI"
  elif cli_usable terraform; then
    command -v terraform
  else
    find_tofu
  fi
}

# write_cli_config FILE makes a CLI configuration that selects the provider in .build/dev.
write_cli_config() {
  cat >"$1" <<CONFIG
disable_checkpoint = true
provider_installation {
  dev_overrides {
    "sandlot-dev/sandlot" = "$build/dev"
  }
  direct {}
}
CONFIG
}

# one_engine makes the scripts and the provider look for the Docker Engine at the same place, as the
# provider would follow a context otherwise.
one_engine() {
  export DOCKER_HOST=${DOCKER_HOST:-unix:///var/run/docker.sock}
  unset DOCKER_CONTEXT
}
