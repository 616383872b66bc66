#!/usr/bin/env bash
# build-tool.sh MODULE NAME builds the tool that tools/MODULE pins into .build/bin/NAME, unless the one
# there was made from the same files by the same Go: a fresh checkout makes every file look new.
set -eu
. "$(dirname "$0")/lib.sh"

module=$1 name=$2
sum=$({ go version && cat "tools/$module"/*; } | sha256sum)
if [ -x "$build/bin/$name" ] && [ "$(cat "$build/bin/.$name.sum" 2>/dev/null)" = "$sum" ]; then
  touch "$build/bin/$name"
  exit 0
fi

case $name in
tofu) say "Building the pinned OpenTofu (several minutes, once)" ;;
goreleaser | golangci-lint) say "Building the pinned $name (a few minutes, once)" ;;
*) say "Building the pinned $name" ;;
esac

# The package comes from the module's tool line; a module of our own has its program at its root.
package=$(sed -n 's/^tool \(.*\)$/\1/p' "tools/$module/go.mod")
cd "tools/$module"
GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$build/bin/$name.new" "${package:-.}"
mv "$build/bin/$name.new" "$build/bin/$name"
echo "$sum" >"$build/bin/.$name.sum"
