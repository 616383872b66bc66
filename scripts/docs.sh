#!/usr/bin/env bash
# docs.sh write|check renders docs/ from the provider in .build/dev, templates/ and examples/, or
# compares what it would render with what is there. Untracked and changed files count as they are.
set -eu
. "$(dirname "$0")/lib.sh"

mode=${1:?write or check}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# tfplugindocs wants the schema under the provider's bare name.
cli=$(find_cli)
write_cli_config "$work/cli.tfrc"
mkdir "$work/module"
cat >"$work/module/main.tf" <<'HCL'
terraform {
  required_providers {
    sandlot = { source = "sandlot-dev/sandlot" }
  }
}
HCL
TF_CLI_CONFIG_FILE=$work/cli.tfrc "$cli" -chdir="$work/module" providers schema -json |
  sed 's#"[^"/]*/sandlot-dev/sandlot":#"sandlot":#' >"$work/schema.json"

render() {
  "$build/bin/tfplugindocs" generate --provider-name sandlot --providers-schema "$work/schema.json" \
    --rendered-website-dir "$1" >"$build/tfplugindocs.log" 2>&1 || {
    cat "$build/tfplugindocs.log" >&2
    die "tfplugindocs failed."
  }
}

case $mode in
write)
  render docs
  ;;
check)
  go run ./internal/gen/capabilities -check templates/guides/capabilities.md.tmpl
  rm -rf .build/docs
  render .build/docs
  diff -ru docs .build/docs || die "docs/ is not what is generated (- is there, + is generated); run: make generate"
  ;;
*) die "Unknown mode $mode." ;;
esac
