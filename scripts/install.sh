#!/usr/bin/env bash
# install.sh BINARY copies the provider to where `go install` puts programs and prints the CLI
# configuration that makes both CLIs use it.
set -eu
. "$(dirname "$0")/lib.sh"

dir=$(go env GOBIN)
[ -n "$dir" ] || dir=$(go env GOPATH)/bin
mkdir -p "$dir"
install -m 0755 "$1" "$dir/terraform-provider-sandlot"
cat <<TEXT
Installed $dir/terraform-provider-sandlot

To use it, put this into ~/.terraformrc (Terraform) or ~/.tofurc (OpenTofu) and leave out \`init\`:

provider_installation {
  dev_overrides {
    "sandlot-dev/sandlot" = "$dir"
  }
  direct {}
}
TEXT
