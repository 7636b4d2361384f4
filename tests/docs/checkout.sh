#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of README.md, docs/CONTRIBUTING.md and docs/viewer.md that need a clone, in a clone of what is committed here:
# it is built, installed, tested, measured, and the viewer's pages are made. Takes two hours on two cores.
#   checkout.sh BUILD [PAGE...]    BUILD has the programs by which options are checked
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:?usage: checkout.sh BUILD [PAGE...]}
pages=("${@:2}")
((${#pages[@]})) || pages=("$root/README.md" "$root/docs/CONTRIBUTING.md" "$root/docs/viewer.md")
have=()
[[ $(id -u) != 0 ]] || have=(--have root)

export CCACHE_DIR=${CCACHE_DIR:-$HOME/.cache/ccache}  # the commands run with a home folder of their own
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"  # some tests become another user
git clone --quiet "$root" "$work/streamscope"
status=0
for page in "${pages[@]}"; do
  # The program of the clone, as soon as there is one: beside it are the pages of the viewer.
  [[ ! -x $work/streamscope/build/bin/streamscope ]] || build=$work/streamscope/build
  python3 "$root/tests/docs/run.py" --build "$build" --checkout "$work/streamscope" "${have[@]}" "$page" || status=1
done
exit $status
