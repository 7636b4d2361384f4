#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Checks packages where they were built, and prints their sizes.   check.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=$1
[[ -d $packages ]] || { echo "SKIPPED: no packages; ./dev package makes them"; exit 77; }
packages=$(cd "$packages" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

most_bytes=25000000  # of the archive and of the wheel
most_start_ms=20
# What the archive leaves to the system.
from_system='^(ld-linux-x86-64|lib(c|m|dl|pthread|stdc\+\+|gcc_s|z|GL|EGL|X11))\.so'

fail() { echo "FAILED: $*"; exit 1; }

check_archive() {
  local archive=$1 prefix streamscope limits library start took fastest=1000000
  mkdir 'another place'
  tar xf "$archive" -C 'another place'
  prefix=$(echo "$work/another place"/*)
  streamscope=$prefix/bin/streamscope

  # It needs no newer system than its page says; with an older one the check finds something.
  read -ra limits <<<"$(sed -nE 's/.*with glibc ([0-9.]+) and .*\((GLIBCXX_[0-9.]+), (CXXABI_[0-9.]+)\).*/GLIBC_\1 \2 \3/p' "$here/../../docs/packages.md")"
  ((${#limits[@]} == 3)) || fail "docs/packages.md states no versions"
  "$here/symbol_versions.py" "$prefix" "${limits[@]}" || fail "the archive needs a newer system than docs/packages.md states"
  ! "$here/symbol_versions.py" "$prefix" GLIBC_2.2.5 "${limits[@]:1}" >older.txt || fail "symbols of a newer glibc are not found"
  grep -q 'libstreamscope_inject.so needs .* of GLIBC_' older.txt || fail "symbols of the collector are not found: $(cat older.txt)"

  # It carries every other library, and these are the ones its programs load.
  { find "$prefix" -type f -exec readelf -d {} + 2>/dev/null || true; } | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | while read -r library; do
    [[ $library =~ $from_system || -n $(find "$prefix" -name "$library") ]] || fail "$library is neither in the archive nor part of every system"
  done
  grep -q "$prefix/bin/../lib/streamscope/libsqlite3.so" <<<"$(ldd "$streamscope")" || fail "it does not load its own libraries: $(ldd "$streamscope")"
  [[ -f $prefix/lib/libstreamscope_calls.so ]] || echo "note: built without the CUDA headers, so the collector records programs with libcoord only"

  "$streamscope" demo pipeline --device sim -o demo.sqlite >demo.txt 2>&1 || fail "the demo: $(cat demo.txt)"
  grep -q 'pipeline.cpp:' demo.txt || fail "the report of the demo names no source line: $(cat demo.txt)"
  "$streamscope" view demo.sqlite --screenshot demo.png || fail "no picture"
  [[ $(head -c 4 demo.png | tail -c 3) == PNG ]] || fail "no picture"

  if [[ -f $prefix/share/streamscope/viewer.html ]]; then
    "$streamscope" report demo.sqlite --format app --quiet -o app.html || fail "no page"
    grep -q licenses app.html || fail "the page has no licenses"
    [[ -n $(ls "$prefix/share/doc/streamscope/licenses-of-page") ]] || fail "it has pages, but not the licenses of what they are made of"
  else
    echo "note: packed without the viewer for browsers, which ./dev web makes"
  fi

  # The GitHub action uses it, and passes the exit code of the gate on.
  local code=0
  env ARCHIVE="$archive" RUNNER_TEMP="$work" RUN="'$prefix/libexec/streamscope/race' --device sim" STREAMSCOPE=none FAIL_ON=error BASELINE= \
    BUDGET= ITERATION= ASSERT= BASE= BASE_RUN= MAX_SLOWDOWN=5 "$here/../../.github/actions/streamscope/run.sh" >action.txt 2>&1 || code=$?
  ((code == 1)) && grep -q SS001 streamscope-out/summary.md || fail "the action exited $code instead of 1: $(cat action.txt)"

  for _ in {1..10}; do
    start=${EPOCHREALTIME/./}
    "$streamscope" --version >/dev/null
    took=$((${EPOCHREALTIME/./} - start))
    ((took >= fastest)) || fastest=$took
  done
  printf 'start of streamscope --version: %d.%01d ms (at most %d)\n' $((fastest / 1000)) $((fastest % 1000 / 100)) $most_start_ms
  ((fastest <= most_start_ms * 1000)) || fail "it starts too slowly"

  desktop-file-validate "$prefix"/share/applications/*.desktop
  appstreamcli validate --no-net "$prefix"/share/metainfo/*.xml
}

for package in "$packages"/*; do
  bytes=$(stat -c %s "$package")
  printf '%6.2f MB  %s\n' "${bytes}e-6" "${package##*/}"
  ((bytes <= most_bytes)) || fail "$package has $bytes bytes; at most $most_bytes"
done
lintian --allow-root --fail-on error,warning "$packages"/*.deb
for archive in "$packages"/*.tar.xz; do
  if [[ -e $archive ]]; then check_archive "$archive"; else echo "note: the archive is made on Debian 12 only"; fi
done
echo "packages: passed"
