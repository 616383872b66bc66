#!/bin/sh
# Written by Sandlot. What its provider does on a host over SSH, beside looking. Every command can be cut
# off and repeated.
set -eu
umask 077
key=/etc/ssh/ssh_host_ed25519_key
next=/etc/ssh/sandlot_next_host_key

public() { ssh-keygen -y -P '' -f "$1" 2>/dev/null | awk '{ print $1 " " $2 }'; }

case "${1:-}" in
  # Prints the public half of the key that the host is to show next, and makes it when there is none. The
  # injected one is read: when another is on the disk, that was switched to, and sshd was not told yet.
  next-host-key)
    read -r injected
    current=$(public "$key")
    if [ -n "$current" ] && [ "$current" != "$injected" ]; then
      echo "$current"
      exit 0
    fi
    made=$(public "$next")
    if [ -z "$made" ]; then
      rm -f "$next" "$next.pub"
      ssh-keygen -q -t ed25519 -N '' -C '' -f "$next"
      made=$(public "$next")
    fi
    sync
    [ -n "$made" ]
    echo "$made"
    ;;
  # Puts that key in the place of the injected one and tells sshd.
  switch-host-key)
    if [ -n "$(public "$next")" ]; then
      mv -f "$next" "$key"
      rm -f "$next.pub"
    fi
    public "$key" >"$key.pub.new"
    [ -s "$key.pub.new" ]
    chmod 0644 "$key.pub.new"
    mv -f "$key.pub.new" "$key.pub"
    sync
    "$(command -v sshd || echo /usr/sbin/sshd)" -t
    systemctl reload ssh.service 2>/dev/null || systemctl reload sshd.service
    ;;
  # Replaces the further keys that may log in as root by those that are read, one a line. What others have
  # added to the file stays.
  authorize)
    mkdir -p "/root/.ssh"
    file=/root/.ssh/authorized_keys
    touch "$file"
    {
      awk '/^# sandlot: begin$/ { skip = 1 } !skip { print } /^# sandlot: end$/ { skip = 0 }' "$file"
      echo '# sandlot: begin'
      cat
      echo '# sandlot: end'
    } >"$file.new"
    mv -f "$file.new" "$file"
    sync
    ;;
  *)
    echo "usage: sandlot-host next-host-key | switch-host-key | authorize" >&2
    exit 64
    ;;
esac
