#!/usr/bin/env bash
# setup.sh quickstart|busybox|test finds the programs that the quickstart, its busybox image or the
# tests need. As root, or with a sudo that does not ask, it installs what is missing; otherwise it
# prints one line with the command that does, and fails.
set -eu
. "$(dirname "$0")/lib.sh"

purpose=${1:?quickstart, busybox or test}
[ "$(uname -s)" = Linux ] || die "This needs Linux, as the local backend does."

static_busybox() {
  have busybox && ! ldd "$(command -v busybox)" >/dev/null 2>&1
}

c_compiler() {
  echo '#include <stdlib.h>' | "${CC:-gcc}" -E - >/dev/null 2>&1
}

# Servers are not on every PATH.
have_server() {
  have "$1" || compgen -G "/usr/lib/postgresql/*/bin/$1" >/dev/null || [ -x "/usr/sbin/$1" ]
}

missing=()
servers=()
case $purpose in
quickstart)
  have bwrap || missing+=(bubblewrap)
  ;;
busybox)
  static_busybox || missing+=(busybox-static)
  ;;
test)
  have bwrap || missing+=(bubblewrap)
  have slirp4netns || missing+=(slirp4netns)
  have curl || missing+=(curl)
  static_busybox || missing+=(busybox-static)
  c_compiler || missing+=(gcc libc6-dev) # the race detector
  have shellcheck || missing+=(shellcheck)
  have mmdebstrap || missing+=(mmdebstrap debian-archive-keyring) # a Debian to install packages in
  have nft || [ -x /usr/sbin/nft ] || missing+=(nftables)
  have ssh || missing+=(openssh-client)
  have_server sshd || servers+=(openssh-server)
  have_server initdb || servers+=(postgresql)
  have_server pgbouncer || servers+=(pgbouncer)
  missing+=(${servers[@]+"${servers[@]}"})
  "$(tool engine)" ping 2>/dev/null || have dockerd || missing+=(docker.io)
  ;;
*) die "Unknown purpose $purpose." ;;
esac

if [ ${#missing[@]} -gt 0 ]; then
  install=(apt-get install -y --no-install-recommends "${missing[@]}")
  if [ "$(id -u)" -eq 0 ]; then
    sudo=()
  elif have sudo && sudo -n true 2>/dev/null; then
    sudo=(sudo -n)
  else
    die "${missing[*]} missing; install with: sudo apt-get install -y ${missing[*]}"
  fi
  have apt-get || die "${missing[*]} missing, and there is no apt-get to install it with."
  say "Installing ${missing[*]}"
  log=$build/apt.log
  if ! { "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    die "\`${install[*]}\` failed; the whole output is in $log"
  fi
  # The tests start servers of their own; what a package started just now is in nobody's way yet.
  if [ ${#servers[@]} -gt 0 ] && have systemctl; then
    "${sudo[@]}" systemctl disable --now "${servers[@]/openssh-server/ssh}" >>"$log" 2>&1 || true
  fi
fi

[ "$purpose" != busybox ] || exit 0

# Some systems let only chosen programs make user namespaces.
if ! reason=$(bwrap --unshare-user --unshare-pid --ro-bind / / true 2>&1); then
  if [ "$(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null)" = 1 ]; then
    die "AppArmor keeps bubblewrap from making user namespaces; allow it with: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
  fi
  die "bubblewrap does not work here: $reason"
fi
