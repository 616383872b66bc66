#!/usr/bin/env bash
# sdk.sh installs the npm packages that tools/sdk pins into .build/sdk, unless those there were made
# from the same files. The tests drive the simulator with them.
set -eu
. "$(dirname "$0")/lib.sh"

# Node trusts authorities of its own only; the system may have more.
system=/etc/ssl/certs/ca-certificates.crt
if [ -z "${NODE_EXTRA_CA_CERTS:-}" ] && [ -r "$system" ]; then
  export NODE_EXTRA_CA_CERTS=$system
fi

sum=$(cat tools/sdk/package.json tools/sdk/package-lock.json tools/sdk/.npmrc | sha256sum)
if [ -d "$build/sdk/node_modules" ] && [ "$(cat "$build/sdk/.sum" 2>/dev/null)" = "$sum" ]; then
  exit 0
fi
have npm || die "npm is not installed."
say "Installing the vendor's SDK"
mkdir -p "$build/sdk"
cp tools/sdk/package.json tools/sdk/package-lock.json tools/sdk/.npmrc "$build/sdk"
npm ci --prefix "$build/sdk" --loglevel error >"$build/sdk/npm.log" 2>&1 </dev/null || {
  tail -n 5 "$build/sdk/npm.log" >&2
  die "npm ci failed; its output is in $build/sdk/npm.log"
}
echo "$sum" >"$build/sdk/.sum"
