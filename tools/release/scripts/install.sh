#!/bin/sh
# Installs nodelet @VERSION@ for @ARCHITECTURE@ from this folder: ./install.sh
# ./install.sh --uninstall [--purge] removes it; --purge also the configuration and the kubelet's state.
# DESTDIR: another root folder than /, for images of machines.
set -eu
umask 022
DESTDIR="${DESTDIR:-}"
here=$(cd "$(dirname "$0")" && pwd)
home=/usr/lib/nodelet
list="$DESTDIR$home/installed.files"

fail() {
  echo "nodelet: $1" >&2
  exit 1
}

has_systemd() { [ -z "$DESTDIR" ] && [ -d /run/systemd/system ]; }

@PURGE_STATE@
install_files() {
  [ "$(uname -m)" = @UNAME@ ] || [ -n "$DESTDIR" ] || fail "these files are for @ARCHITECTURE@, this machine is $(uname -m)"
  if [ ! -e "$list" ]; then
    for path in /usr/bin/kubelet /usr/bin/nodelet /usr/lib/systemd/system/kubelet.service; do
      [ ! -e "$DESTDIR$path" ] || fail "$path belongs to another kubelet: remove it first"
    done
  fi
  first=yes
  [ ! -e "$list" ] || first=no
  new="$DESTDIR$home.new"
  rm -rf "$new" "$DESTDIR$home.old"
  mkdir -p "$DESTDIR/usr/lib"
  cp -R "$here/root$home" "$new"
  (cd "$here/root" && find usr -type f ! -path 'usr/lib/nodelet/*') >"$new/installed.files"
  # The old code stays whole until the new one is.
  [ ! -e "$DESTDIR$home" ] || mv "$DESTDIR$home" "$DESTDIR$home.old"
  mv "$new" "$DESTDIR$home"
  rm -rf "$DESTDIR$home.old"
  while read -r path; do
    mkdir -p "$DESTDIR/$(dirname "$path")"
    cp "$here/root/$path" "$DESTDIR/$path.new"
    mv "$DESTDIR/$path.new" "$DESTDIR/$path"
  done <"$list"
  mkdir -p "$DESTDIR/etc/nodelet" "$DESTDIR/etc/kubernetes/manifests"
  if [ -e "$DESTDIR/etc/nodelet/kubelet.yaml" ]; then
    echo "/etc/nodelet/kubelet.yaml is left as it is"
  else
    cp "$here/root/etc/nodelet/kubelet.yaml" "$DESTDIR/etc/nodelet/kubelet.yaml"
  fi
  echo "installed nodelet @VERSION@"
  if has_systemd; then
    systemctl daemon-reload
    if [ "$first" = yes ]; then
      echo "next: systemctl enable --now kubelet"
    else
      # Containers are not restarted.
      systemctl try-restart kubelet
    fi
  fi
}

purge_config() {
  rm -f "$DESTDIR/etc/nodelet/kubelet.yaml"
  rmdir "$DESTDIR/etc/nodelet" "$DESTDIR/etc/kubernetes/manifests" "$DESTDIR/etc/kubernetes" 2>/dev/null || true
}

uninstall_files() {
  if [ ! -e "$list" ]; then
    # A purge that was refused is repeated.
    if [ "$1" = --purge ] && [ -z "$DESTDIR" ]; then
      purge_config
      purge_state
      return
    fi
    fail "nothing is installed that this script has installed"
  fi
  if has_systemd; then systemctl disable --now kubelet; fi
  while read -r path; do rm -f "$DESTDIR/$path"; done <"$list"
  rm -rf "$DESTDIR$home"
  if has_systemd; then systemctl daemon-reload; fi
  rmdir "$DESTDIR/usr/share/doc/nodelet/examples" "$DESTDIR/usr/share/doc/nodelet" 2>/dev/null || true
  if [ "$1" = --purge ]; then
    purge_config
    [ -n "$DESTDIR" ] || purge_state
  else
    echo "kept: /etc/nodelet/kubelet.yaml and the state in /var/lib/kubelet; --purge removes them, too"
  fi
}

[ -n "$DESTDIR" ] || [ "$(id -u)" = 0 ] || fail "not root: run it with sudo"
case "${1:-}" in
"") install_files ;;
--uninstall) uninstall_files "${2:-}" ;;
*) fail "usage: ./install.sh [--uninstall [--purge]]" ;;
esac
