#!/usr/bin/env bash
# engine-start.sh makes sure that a Docker Engine answers. When none does it starts dockerd in
# the background and prints its process id; it prints nothing when one answered already.
set -eu
. "$(dirname "$0")/lib.sh"

engine=$(tool engine)
# A package that was just installed may be starting its own.
if "$engine" ping 2>/dev/null || { [ -S /var/run/docker.sock ] && "$engine" wait 5s 2>/dev/null; }; then
  exit 0
fi
[ -z "${DOCKER_HOST:-}" ] || die "No Docker Engine answers at DOCKER_HOST=$DOCKER_HOST."
have dockerd || die "No Docker Engine answers; install with: sudo apt-get install -y docker.io"
[ "$(id -u)" -eq 0 ] || die "No Docker Engine answers; start one with: sudo systemctl start docker"

log=$build/dockerd.log
setsid dockerd >"$log" 2>&1 </dev/null &
pid=$!
if ! "$engine" wait 60s 2>/dev/null; then
  kill "$pid" 2>/dev/null || true
  tail -n 5 "$log" >&2
  die "dockerd does not start; its output is in $log"
fi
echo "$pid"
