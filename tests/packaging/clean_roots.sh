#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Uses packages where nothing else is: in new root file systems, made by debootstrap. Needs root and a mirror.
#   clean_roots.sh FOLDER [RELEASE...]   FOLDER has the packages; RELEASEs to use the archive in (default trixie jammy noble)
#   clean_roots.sh FOLDER tutorials      follows each tutorial, docs/packages.md and docs/python.md, as the page says, from the installation
#                                        on, and prints its time
#
# In the release that the Debian packages are for: install, demo with report and picture, upgrade, removal that leaves nothing, window,
# consumers, gate. In the others the archive: demo, window, consumers, gate.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=$(cd "$1" && pwd) || { echo "SKIPPED: no packages; ./dev package makes them"; exit 77; }
((EUID == 0)) && command -v debootstrap >/dev/null && unshare --mount true || { echo "SKIPPED: needs root, mounts and debootstrap"; exit 77; }
others=("${@:2}")
((${#others[@]})) || others=(trixie jammy noble)
case $(echo "$packages"/streamscope_*.deb) in
  *~debian12_*) own=bookworm ;;
  *~ubuntu24.04_*) own=noble ;;
  *) echo "FAILED: packages of no distribution that is known here: $(ls "$packages")"; exit 1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

# inside COMMAND...: in the root file system $root, with its own processes and mounts.
inside() {
  # shellcheck disable=SC2016  # for the inner shell
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" "$@"' \
    "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# quietly WHAT COMMAND...
quietly() {
  local start=$SECONDS
  inside "${@:2}" >"$work/log.txt" 2>&1 || fail "$release: $1: $(tail -30 "$work/log.txt")"
  echo "$release: $1: $((SECONDS - start)) s"
}
apt_install() { quietly "$1" apt-get install -y --no-install-recommends "${@:2}"; }
use() { inside bash /test/inside.sh "$@" || fail "$release: $*"; }

# make_root RELEASE: $root with /test; false if there is no mirror for it.
make_root() {
  release=$1 root=$work/$1
  local start=$SECONDS options=() mirror=()
  case $release in  # Ubuntu; the script of gutsy is that of all later releases, also of those that debootstrap does not know
    jammy | noble) options=('--components=main,universe') mirror=(http://archive.ubuntu.com/ubuntu gutsy) ;;
  esac
  if ! debootstrap --variant=minbase "${options[@]}" "$release" "$root" "${mirror[@]}" >"$work/log.txt" 2>&1; then
    echo "SKIPPED: $release: debootstrap: $(grep -m 1 '^E:' "$work/log.txt" || tail -1 "$work/log.txt")"
    return 1
  fi
  mkdir "$root/test"
  cp -r "$here/inside.sh" "$here/gated" "$here/../install/consumer" "$root/test/"
  cp -r "$packages" "$root/test/packages"
  echo "$release: root file system made: $((SECONDS - start)) s"
}

# Files outside the caches and records of the package manager.
files() {
  (cd "$root" && find . -xdev -path ./test -prune -o -path ./proc -prune -o -path ./sys -prune -o -path ./dev -prune -o -path ./run -prune \
    -o -path ./var/cache -prune -o -path ./var/lib/apt -prune -o -path ./var/lib/dpkg -prune -o -path ./var/log -prune \
    -o -path ./etc/ld.so.cache -prune -o -print | sort)
}

# The packages as their next version, into /test/next.
make_next() {
  local package folder=$work/next
  mkdir "$root/test/next"
  for package in "$packages"/*.deb; do
    rm -rf "$folder"
    dpkg-deb --raw-extract "$package" "$folder"
    sed -i -E 's/([0-9.]+-)1~/\12~/g' "$folder/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$folder" "$root/test/next/$(basename "$package")" >/dev/null
  done
}

try_debian_packages() {
  local names=() debs=() package
  for package in "$packages"/*.deb; do
    debs+=("/test/packages/$(basename "$package")")
    names+=("$(dpkg-deb --field "$package" Package)")
  done
  quietly "lists of packages" apt-get update
  # A viewer draws its picture with Mesa; what it brings may stay.
  apt_install "drawing without a GPU" libgl1-mesa-dri
  files >"$work/before.txt"
  apt_install "packages installed" "${debs[@]}"
  use demo /usr/bin/streamscope
  make_next
  apt_install "upgraded" "${debs[@]/packages/next}"
  [[ $(inside dpkg-query --show --showformat='${Version}' streamscope) == *-2~* ]] || fail "$release: not upgraded"
  use demo /usr/bin/streamscope
  quietly "removed" apt-get remove -y "${names[@]}"
  quietly "purged" dpkg --purge "${names[@]}"
  quietly "what came with them removed" apt-get autoremove -y --purge
  files >"$work/after.txt"
  diff "$work/before.txt" "$work/after.txt" || fail "$release: removal leaves these files"
  apt_install "installed again, with a compiler and a display" "${debs[@]}" g++ cmake ninja-build git ca-certificates xvfb xdotool
  use window /usr/bin/streamscope
  use consumers /usr/bin/streamscope
  use gate /usr/bin/streamscope
}

try_archive() {
  mkdir "$root/opt/elsewhere"
  tar xf "$packages"/streamscope-*.tar.xz -C "$root/opt/elsewhere" --strip-components 1
  quietly "lists of packages" apt-get update
  apt_install "drawing without a GPU" libgl1-mesa-dri libegl1 libgl1
  use demo /opt/elsewhere/bin/streamscope
  apt_install "a compiler and a display" g++ cmake ninja-build git ca-certificates xvfb xdotool
  use window /opt/elsewhere/bin/streamscope
  [[ $release != jammy ]] || return 0  # its CMake is too old for us
  use consumers /opt/elsewhere/bin/streamscope
  use gate /opt/elsewhere/bin/streamscope
}

# follow_page ROOT PAGE: in a copy of this root file system, by the commands of the page (tests/docs).
follow_page() {
  root=$work/followed
  cp -a "$1" "$root"
  inside python3 /test/source/tests/docs/run.py --packages /test/packages --have root,packages,network "${2#"$1"}" || fail "$release: $2"
  rm -rf --one-file-system "$root"
}

follow_tutorials() {
  local fresh=$root page
  quietly "lists of packages" apt-get update
  apt_install "what runs the commands of a page" python3
  echo 'APT::Get::Assume-Yes "true";' >"$fresh/etc/apt/apt.conf.d/90assume-yes"
  mkdir -p "$fresh/test/source/tests"
  cp -r "$here/../docs" "$fresh/test/source/tests/docs"
  cp -r "$here/../../docs" "$here/../../cmake" "$fresh/test/source/"
  grep -lE '^```(sh|console)$' "$fresh"/test/source/docs/tutorials/*.md >"$work/pages.txt"
  while read -r page <&3; do
    follow_page "$fresh" "$page"
  done 3<"$work/pages.txt"
  root=$fresh
  apt_install "what opens a window and an archive, and an environment of Python" libgl1-mesa-dri xvfb xdotool xz-utils python3-venv
  follow_page "$fresh" "$fresh/test/source/docs/packages.md"
  follow_page "$fresh" "$fresh/test/source/docs/python.md"
}

make_root "$own" || exit 77
if [[ ${others[0]} == tutorials ]]; then
  follow_tutorials
  echo "tutorials: passed"
  exit
fi
try_debian_packages
compgen -G "$packages/*.tar.xz" >/dev/null || others=()
for other in "${others[@]}"; do
  rm -rf --one-file-system "$root"
  if make_root "$other"; then try_archive; fi
done
echo "clean roots: passed"
