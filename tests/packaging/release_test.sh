#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# ./dev release: what is quick to check holds, and what must not be released is refused.   release_test.sh SOURCE
set -euo pipefail
source=$1
git -C "$source" rev-parse HEAD >/dev/null 2>&1 || { echo "SKIPPED: not a Git repository"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$source/dev" release --check || fail "release --check"

# A repository of its own, in which nothing has to be installed and every check passes.
mkdir "$work/tree" "$work/tools"
cd "$work/tree"
git -C "$source" archive HEAD dev tests cmake docs/CHANGELOG.md profiler/python profiler/trace/schema/formats.h | tar x
cp "$source/dev" dev
printf '#!/bin/sh\nfor package; do printf "installed=%%s " "$package"; done\n' >"$work/tools/dpkg-query"
chmod +x "$work/tools/dpkg-query"
PATH=$work/tools:$PATH
git init --quiet
commit() { git add --all && git -c user.name=A -c user.email=a@b.org commit --quiet --allow-empty --message change; }
commit

# refused WORDS ARGUMENT...: the message of a release that is refused has these words
refused() {
  local code=0 said
  said=$(./dev release "${@:2}" 2>&1) || code=$?
  [[ $code == 2 && $said == *"$1"* ]] || fail "instead of '$1', code $code: $said"
}

version=$(sed -n 's/^__version__ = "\(.*\)".*/\1/p' profiler/python/streamscope/__init__.py)
sed -i '/^## \[[0-9]/,/^\[/d' docs/CHANGELOG.md  # as before its first release
commit
refused "has no section '[$version] - YYYY-MM-DD'"
refused "the version is $version, not 99.0.0" 99.0.0
echo more >>docs/CHANGELOG.md
refused "changes that are not committed:  M docs/CHANGELOG.md"
git checkout --quiet docs/CHANGELOG.md

# What was made is checked: every file, by its checksum, and listed.
out=build-package/release
mkdir -p "$out"
echo text >"$out/a.txt"
(cd "$out" && sha256sum -- a.txt >SHA256SUMS)
refused_check() { refused "$1" --check; }
refused_check "there is no bill of materials"
cat >"$out/a.spdx.json" <<END
{}
END
(cd "$out" && sha256sum -- a.spdx.json a.txt >SHA256SUMS)
refused_check "spdxVersion is None"
echo more >"$out/b.txt"
refused_check "SHA256SUMS does not list every file"
echo other >"$out/a.txt"
refused_check "a.txt: FAILED"
rm -r "$out"

# An archive of the sources that cannot find its version.
sed -i 's/^__version__ = .*/__version__ = "1.2"/' profiler/python/streamscope/__init__.py
refused_check "has no line '__version__"
git checkout --quiet profiler
git rm --quiet cmake/Version.cmake
commit
refused_check "the version of the archived sources is not $version"
echo "passed"
