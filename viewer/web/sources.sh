#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# usage: sources.sh FOLDER
# Fetches what the viewer of the web is compiled from, by apt: libraries as sources, and headers of those that have
# nothing else. FOLDER/licenses has what Debian says of each, and of Emscripten and the fonts, as NAME_VERSION_ARCHITECTURE.
# Emscripten's C++ library is older than the viewer's code, so the headers of a later release are used with it, under its own
# inline namespace and settings. Does nothing where FOLDER is complete.
set -euo pipefail
folder=$1
complete=$folder/complete
sources=(imgui sqlite3 freetype fmtlib protobuf)
headers=(libc++-16-dev nlohmann-json3-dev libcli11-dev libstb-dev)
installed=(emscripten fonts-inter fonts-jetbrains-mono fonts-dejavu-core)
wanted="$(sha256sum < "${BASH_SOURCE[0]}")"
[[ -f $complete && $(< "$complete") == "$wanted" ]] && exit 0

rm -rf "$folder"
mkdir -p "$folder"/apt/{parts,lists/partial,archives/partial} "$folder"/{include,licenses}
folder=$(realpath "$folder")
cd "$folder/apt"

# The machine's own package sources, with those of the sources added; nothing of the machine is changed.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [[ -f $list ]] || continue
  sed -nE 's/^deb( .*)$/deb\1\ndeb-src\1/p' "$list" > "parts/$(basename "$list" .list).list"
done
for list in /etc/apt/sources.list.d/*.sources; do
  [[ -f $list ]] && sed -E 's/^Types:.*$/Types: deb deb-src/' "$list" > "parts/$(basename "$list")"
done
apt() {
  apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$PWD/parts" -o Dir::State::lists="$PWD/lists" \
    -o Dir::Cache::archives="$PWD/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
    -o APT::Sandbox::User="$(id -un)" "$@"
}
# shellcheck disable=SC2016  # for dpkg
package_name='${Package}_${Version}_${Architecture}'
# keep_license FILE NAME: as files of packages are named, without the colon of an epoch
keep_license() { cp "$1" "../licenses/${2/:/%3a}"; }
echo "web: fetching the sources of ${sources[*]}"
apt update
apt source --download-only "${sources[@]}"
apt download "${headers[@]}"
for source in "${sources[@]}"; do
  dpkg-source --no-check -x "${source}"_*.dsc "../$source" > /dev/null
  keep_license "../$source/debian/copyright" "${source}_$(dpkg-parsechangelog -l "../$source/debian/changelog" -S Version)_source"
done
for package in "${headers[@]}"; do
  dpkg-deb -x "${package}"_*.deb "$package"
  keep_license "$package/usr/share/doc/$package/copyright" "$(dpkg-deb --show --showformat="$package_name" "${package}"_*.deb)"
done
for package in "${installed[@]}"; do
  [[ ! -f /usr/share/doc/$package/copyright ]] ||
    keep_license "/usr/share/doc/$package/copyright" "$(dpkg-query --show --showformat="$package_name" "$package")"
done
mv libc++-16-dev/usr/lib/llvm-16/include/c++/v1 ../libc++
mv nlohmann-json3-dev/usr/include/nlohmann libcli11-dev/usr/include/CLI ../include
mv libstb-dev/usr/include/stb ../include/stb
cd ..
cat > libc++/__config_site <<'SITE'
#ifndef _LIBCPP___CONFIG_SITE
#define _LIBCPP___CONFIG_SITE
#define _LIBCPP_ABI_VERSION 2
#define _LIBCPP_ABI_NAMESPACE __2
#define _LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS
#define _LIBCPP_ENABLE_ASSERTIONS_DEFAULT 0
#define _LIBCPP_HAS_MUSL_LIBC
#define _LIBCPP_HAS_THREAD_API_PTHREAD
#endif
SITE
(cd sqlite3 && ./configure > configure.log 2>&1 && make sqlite3.c > make.log 2>&1)
rm -rf apt ./*.tar.*
echo "$wanted" > complete
