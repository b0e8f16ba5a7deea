#!/bin/sh
# Installs nodelet. Fetches the package for this machine from NODELET_URL, and installs it only if its checksum and the signature of the
# checksums are right. Needs curl, and gpgv or sqv.
set -eu
fail() { echo "nodelet: $1; nothing is installed" >&2 && exit 1; }
fetch() { curl -fsSL --retry 3 --max-time 600 -o "$dir/$1" "$url/$1" || fail "cannot fetch $url/$1"; }
install_nodelet() {
  url=${NODELET_URL:-@URL@}
  [ "$(id -u)" = 0 ] || fail "not root: run it with sudo"
  case $(uname -m) in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
  *) fail "there is no package for $(uname -m)" ;;
  esac
  if [ -n "$(command -v apt-get)" ]; then end="_$arch.deb" && how="apt-get install -y"
  elif [ -n "$(command -v dnf)" ]; then end=".$(uname -m).rpm" && how="dnf install -y"
  else end="-linux-$arch.tar.gz" && how=unpack; fi
  verify=$(command -v gpgv || command -v sqv) || fail "gpgv or sqv is needed: install the package gpgv"
  [ -n "$(command -v curl)" ] || fail "curl is needed: install the package curl"
  dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT && chmod 755 "$dir"
  base64 -d >"$dir/key.gpg" <<KEY
@KEY@
KEY
  fetch SHA256SUMS && fetch SHA256SUMS.asc
  "$verify" --keyring "$dir/key.gpg" "$dir/SHA256SUMS.asc" "$dir/SHA256SUMS" || fail "the signature of SHA256SUMS is wrong"
  line=$(grep -E "^[0-9a-f]{64}  nodelet[-_][0-9][^/ ]*$end\$" "$dir/SHA256SUMS" | head -n 1) && file=${line##* }
  [ -n "$line" ] || fail "SHA256SUMS has no file for this machine"
  fetch "$file"
  (cd "$dir" && echo "$line" | sha256sum --check --strict --quiet) || fail "the checksum of $file is wrong"
  if [ "$how" = unpack ]; then tar -xzf "$dir/$file" -C "$dir" && "$dir/${file%.tar.gz}/install.sh"
  else $how "$dir/$file"; fi
}
install_nodelet "$@"
