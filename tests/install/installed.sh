#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Installs the build, moves the tree elsewhere, and uses it there: its programs, and find_package(streamscope).
#   installed.sh BUILD SOURCE
source "$(dirname "$0")/consume.sh" "$1" "$2"

quietly cmake --install "$build" --prefix "$work/first"
mv first moved
prefix=$work/moved

# The programs find the collector and the demos relative to themselves.
quietly "$prefix/bin/streamscope" demo pipeline --device sim -o demo.sqlite
expect_complete demo.sqlite 1
(($(field info.json counts.event_edge) > 0)) || fail "the demo's trace has no edge"
PATH=$prefix/bin:$PATH quietly streamscope record -o path.sqlite -- "$worker" count 8
expect_complete path.sqlite 1
if [[ -x $bin/streamscope-viewer ]]; then
  quietly "$prefix/bin/streamscope" view demo.sqlite --screenshot demo.png
  [[ $(head -c 4 demo.png | tail -c 3) == PNG ]] || fail "no picture"
fi
for file in man/man1/streamscope.1 bash-completion/completions/streamscope zsh/site-functions/_streamscope fish/vendor_completions.d/streamscope.fish; do
  [[ -s $prefix/share/$file ]] || fail "no share/$file"
done
stray=$(grep -rlF "$build" moved --include='*.cmake' || true)
[[ -z $stray ]] || fail "the installed package names the build folder: $stray"

version=$("$prefix/bin/streamscope" --version | sed -n 's/^streamscope //p')
consume -DCMAKE_PREFIX_PATH="$prefix" -DEXPECTED="$version"
