#!/bin/sh
# Written by Sandlot. Runs once, at the end of the first boot; cloud-init keeps its output in
# /var/log/cloud-init-output.log. The marker at its end says that everything before it worked.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
umask 022
packages=$1
. /etc/os-release

fail() { echo "sandlot: $*" >&2; exit 1; }
get() { apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=5 "$@"; }
add() { get install --no-install-recommends "$@"; }
offered() { apt-cache policy "$1" | grep -q 'Candidate: [^(]'; }

get update
add ca-certificates nftables openssh-client rsync
systemctl daemon-reload
systemctl enable --now sandlot-metadata-guard.service

docker_repository() {
  case "$ID" in
    ubuntu) base=https://download.docker.com/linux/ubuntu suite=${UBUNTU_CODENAME:-$VERSION_CODENAME} ;;
    debian) base=https://download.docker.com/linux/debian suite=$VERSION_CODENAME ;;
    *) fail "Docker has no repository for $ID" ;;
  esac
  for conflicting in docker.io docker-compose docker-compose-v2 docker-doc podman-docker containerd runc; do
    if dpkg-query -W -f '${Status}' "$conflicting" 2>/dev/null | grep -q ' installed$'; then
      get remove "$conflicting"
    fi
  done
  add curl gnupg
  mkdir -p /etc/apt/keyrings
  chmod 0755 /etc/apt/keyrings
  curl -fsSL --proto '=https' --retry 5 --retry-connrefused -o /etc/apt/keyrings/docker.asc "$base/gpg"
  chmod 0644 /etc/apt/keyrings/docker.asc
  GNUPGHOME=$(mktemp -d)
  export GNUPGHOME
  gpg --batch --quiet --show-keys --with-colons /etc/apt/keyrings/docker.asc >"$GNUPGHOME/keys"
  found=$(awk -F: '$1 == "pub" { primary = 1 } $1 == "fpr" && primary { print $10; primary = 0 }' "$GNUPGHOME/keys")
  rm -rf "$GNUPGHOME"
  [ "$found" = 9DC858229FC7DD38854AE2D88D81803C0EBFCD88 ] || fail "the key of Docker's repository is not the published one"
  rm -f /etc/apt/sources.list.d/docker.list
  cat >/etc/apt/sources.list.d/docker.sources <<SOURCES
Types: deb
URIs: $base
Suites: $suite
Components: stable
Architectures: $(dpkg --print-architecture)
Signed-By: /etc/apt/keyrings/docker.asc
SOURCES
  chmod 0644 /etc/apt/sources.list.d/docker.sources
  get update
  add docker-ce docker-ce-cli containerd.io docker-buildx-plugin docker-compose-plugin
}

docker_distribution() {
  add docker.io
  # The client and the plugins are packages of their own in some releases, under other names in others.
  for optional in docker-cli docker-buildx; do
    if offered "$optional"; then add "$optional"; fi
  done
  for compose in docker-compose-v2 docker-compose; do
    if docker compose version >/dev/null 2>&1; then break; fi
    if offered "$compose"; then add "$compose"; fi
  done
  docker compose version >/dev/null 2>&1 || fail "this release has no Compose plugin: use docker_packages = \"docker\""
  docker buildx version >/dev/null 2>&1 || fail "this release has no Buildx plugin: use docker_packages = \"docker\""
}

case "$packages" in
  docker) docker_repository ;;
  distribution) docker_distribution ;;
  none) ;;
  *) fail "unknown packages $packages" ;;
esac
if [ "$packages" != none ]; then
  systemctl enable --now docker.service
fi

/usr/local/sbin/sandlot-host authorize </etc/sandlot/authorized_keys

mkdir -p /var/lib/sandlot
: >/var/lib/sandlot/bootstrapped.new
mv /var/lib/sandlot/bootstrapped.new /var/lib/sandlot/bootstrapped
sync
