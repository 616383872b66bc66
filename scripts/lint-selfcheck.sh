#!/usr/bin/env bash
# lint-selfcheck.sh GOLANGCI_LINT proves that the layer rule of .golangci.yml bites, and only where
# it should: it lays the imports below into a throw-away module of stubs and compares what
# depguard says with the table.
set -eu
linter=$(realpath "$1")
. "$(dirname "$0")/lib.sh"

ours=github.com/sandlot-dev/terraform-provider-sandlot
framework=github.com/hashicorp/terraform-plugin-framework
engine=github.com/docker/docker
driver=github.com/jackc/pgx/v5
age=filippo.io/age
hcloud=github.com/hetznercloud/hcloud-go/v2

# verdict, importing file, imported package (a leading / means one of ours); the files sit in
# folders x that nothing imports, as the stubs would form cycles otherwise
table="
denied  internal/effects/x/a.go              /internal/backends
denied  internal/overlay/x/a.go              /internal/effects
denied  internal/overlay/x/b.go              /internal/sandbox
denied  internal/overlay/x/c.go              $framework
denied  internal/handle/x/a.go               /internal/backends
denied  internal/handle/x/b.go               os
denied  internal/handle/x/c.go               net/http
allowed internal/handle/x/d.go               encoding/json
denied  internal/store/x/a.go                /internal/sandbox
denied  internal/store/sqlite/x/b.go         /internal/backends
allowed internal/store/sqlite/x/c.go         /internal/effects
allowed internal/store/sqlite/x/d.go         /internal/store
denied  internal/store/sqlite/x/e.go         testing
allowed internal/store/storetest/x/a.go      testing
denied  internal/store/sqlite/x/f.go         /internal/store/postgres
denied  internal/store/postgres/x/a.go       /internal/store/sqlite
denied  internal/store/postgres/x/b.go       $age
allowed internal/store/postgres/x/c.go       $driver
denied  internal/store/sqlrows/x/a.go        $driver
allowed internal/store/seal/x/a.go           $age
denied  internal/provider/x/g.go             $driver
denied  internal/provider/x/h.go             $age
denied  internal/backends/a.go               /internal/backends/local
denied  internal/backends/x/b.go             /internal/store
allowed internal/backends/x/c.go             /internal/effects
denied  internal/backends/x/d.go             $framework
denied  internal/backends/local/x/a.go       /internal/backends/docker
denied  internal/backends/local/x/b.go       /internal/sandbox
denied  internal/backends/local/x/c.go       $engine
allowed internal/backends/local/x/d.go       /internal/backends
denied  internal/backends/docker/x/a.go      /internal/backends/local
allowed internal/backends/docker/x/b.go      $engine
denied  internal/backends/local/x/v.go       /internal/backends/vercel
denied  internal/backends/docker/x/v.go      /internal/backends/vercel
denied  internal/backends/vercel/x/a.go      /internal/backends/local
denied  internal/backends/vercel/x/b.go      /internal/backends/docker
denied  internal/backends/vercel/x/c.go      /internal/store
denied  internal/backends/vercel/x/d.go      /internal/sandbox
denied  internal/backends/vercel/x/e.go      $framework
allowed internal/backends/vercel/x/f.go      /internal/backends
allowed internal/backends/vercel/x/g.go      /internal/effects
denied  internal/backends/hetzner/x/a.go     /internal/backends/local
denied  internal/backends/hetzner/x/b.go     /internal/store
denied  internal/backends/hetzner/x/c.go     /internal/cloudhost
allowed internal/backends/hetzner/x/d.go     $hcloud
denied  internal/cloudhost/x/a.go            /internal/provider
denied  internal/cloudhost/x/b.go            $framework
denied  internal/cloudhost/x/c.go            $hcloud
denied  internal/cloudhost/x/d.go            /internal/workspace
denied  internal/cloudhost/x/e.go            /internal/backends/docker
denied  internal/cloudhost/x/f.go            /internal/store/sqlite
allowed internal/cloudhost/x/g.go            /internal/backends/hetzner
allowed internal/cloudhost/x/h.go            /internal/store/seal
allowed internal/cloudhost/x/i.go            /internal/sandbox
allowed internal/backends/conformance/x/a.go testing
denied  internal/simulator/x/a.go            /internal/backends/vercel
denied  internal/simulator/x/b.go            /internal/backends/docker
denied  internal/simulator/x/c.go            /internal/store
denied  internal/simulator/x/d.go            /internal/provider
denied  internal/simulator/x/e.go            $framework
denied  internal/simulator/x/f.go            testing
allowed internal/simulator/x/g.go            /internal/backends/local
allowed internal/simulator/x/h.go            /internal/simulator/y
allowed internal/simulator/hetzner/a_test.go $hcloud
denied  internal/backends/vercel/x/h.go      $hcloud
denied  internal/backends/x/e.go             /internal/simulator/vercel
denied  internal/sandbox/x/a.go              /internal/provider
denied  internal/sandbox/x/b.go              /internal/workspace
denied  internal/sandbox/x/c.go              /internal/backends/local
denied  internal/sandbox/x/d.go              /internal/store/sqlite
denied  internal/sandbox/x/e.go              $framework
denied  internal/sandbox/x/f.go              testing
allowed internal/sandbox/x/g.go              /internal/backends
allowed internal/sandbox/x/h.go              /internal/store
denied  internal/sandbox/x/i.go              /internal/overlay
denied  internal/basesnapshot/x/a.go         /internal/provider
denied  internal/basesnapshot/x/b.go         $framework
denied  internal/basesnapshot/x/c.go         /internal/backends/docker
denied  internal/basesnapshot/x/d.go         /internal/store/sqlite
denied  internal/basesnapshot/x/e.go         /internal/workspace
denied  internal/basesnapshot/x/f.go         testing
allowed internal/basesnapshot/x/g.go         /internal/sandbox
allowed internal/basesnapshot/x/h.go         /internal/overlay
allowed internal/basesnapshot/x/i.go         /internal/backends
allowed internal/basesnapshot/x/j.go         /internal/store
denied  internal/workspace/x/d.go            /internal/basesnapshot
allowed internal/workspace/x/e.go            /internal/overlay
denied  internal/workspace/x/a.go            /internal/provider
denied  internal/workspace/x/b.go            $framework
allowed internal/workspace/x/c.go            /internal/sandbox
denied  internal/provider/x/a.go             $engine
denied  internal/provider/x/b.go             testing
allowed internal/provider/x/c.go             $framework
allowed internal/provider/x/d.go             /internal/sandbox
allowed internal/provider/x/e.go             /internal/backends/local
allowed internal/provider/x/f.go             /internal/store/sqlite
denied  main.go                              /internal/sandbox
"

module=$(mktemp -d)
trap 'rm -rf "$module"' EXIT
cp .golangci.yml "$module"
cd "$module"

# package_of FILE prints the package clause's name.
package_of() {
  case $1 in
  main.go) echo main ;;
  *) basename "$(dirname "$1")" ;;
  esac
}

for path in "$framework" "$engine" "$driver" "$age" "$hcloud"; do
  mkdir -p "stub/$path"
  printf 'module %s\n\ngo 1.26.0\n' "$path" >"stub/$path/go.mod"
  printf '// Package stub stands in for the real one.\npackage stub\n' >"stub/$path/stub.go"
done
cat >go.mod <<MOD
module $ours

go 1.26.0

require (
	$age v0.0.0
	$driver v5.0.0
	$engine v0.0.0
	$framework v0.0.0
	$hcloud v2.0.0
)

replace (
	$age => ./stub/$age
	$driver => ./stub/$driver
	$engine => ./stub/$engine
	$framework => ./stub/$framework
	$hcloud => ./stub/$hcloud
)
MOD
while read -r verdict file imported; do
  [ -n "$verdict" ] || continue
  case $imported in
  /*)
    mkdir -p "${imported#/}"
    printf 'package %s\n' "$(basename "$imported")" >"${imported#/}/doc.go"
    imported=$ours$imported
    ;;
  esac
  mkdir -p "$(dirname "$file")"
  printf 'package %s\n\nimport _ "%s"\n' "$(package_of "$file")" "$imported" >"$file"
  echo "$verdict $file"
done <<<"$table" | sort >expected
echo 'func main() {}' >>main.go

GOFLAGS=-mod=mod GOWORK=off "$linter" run --enable-only depguard --max-same-issues 0 --max-issues-per-linter 0 \
  --output.text.path stdout --output.text.print-issued-lines=false --output.text.colors=false ./... >output 2>&1 || true
while read -r _ file; do
  if grep -q "^$file:.*depguard" output; then echo "denied $file"; else echo "allowed $file"; fi
done <expected | sort >seen

if ! diff expected seen >difference; then
  echo "The layer rule of .golangci.yml does not hold (< is expected, > is seen):" >&2
  cat difference >&2
  tail -n 5 output >&2
  exit 1
fi
