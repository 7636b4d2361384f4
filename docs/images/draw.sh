#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Draws pictures of the documents again, after a change of the viewer or of texts:   docs/images/draw.sh [BUILD [RECORDINGS]]
#   docs/viewer.md    from traces/ and the demos; all but viewer-pools-holders.png, which shows a tooltip
#   docs/ranks.md     from the report that the tests approve
#   docs/analysis.md  if RECORDINGS has bound_{eager,item,loader}.sqlite, recorded on a GPU:
#     streamscope record -o bound_CASE.sqlite -- python3 tests/gpu/programs/torch_bounds.py CASE --steps 60 --mark
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=${1:-build}/bin
recordings=${2:-}
images=docs/images

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

view() {  # NAME SIZE TRACE [OPTION...]
  "$bin/streamscope-viewer" "$3" --size "$2" --screenshot "$images/viewer-$1.png" "${@:4}"
}

report() {  # NAME HEIGHT PAGE
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="1200,$2" \
    --screenshot="$images/report-$1.png" "file://$3" 2>/dev/null
}

for demo in pools deadlock; do
  "$bin/streamscope" demo "$demo" --quiet --force -o "$work/$demo.sqlite" &>/dev/null || [[ -f $work/$demo.sqlite ]]  # one ends in a deadlock
done
view timeline 1500x860 traces/torch_streams.sqlite --range 5.960642s:5.986334s --select op:133 --drawer none
view findings 1200x600 traces/torch_streams.sqlite --panel findings
view graph 1280x560 traces/example_fork_join.sqlite --panel graph --select op:8
view pools 1200x600 "$work/pools.sqlite" --panel pools --range 0%:100%
view deadlocks 1600x620 "$work/deadlock.sqlite" --panel deadlocks
view statistics 1200x600 traces/torch_streams.sqlite --panel statistics
view sql 1280x500 traces/torch_streams.sqlite --panel sql

command -v chromium >/dev/null || { echo "reports are drawn by chromium, which is missing" >&2; exit 1; }
report job 760 "$PWD/tests/golden/job/slow_loader.html"
[[ -n $recordings ]] || exit 0
for case in eager item loader; do
  view "$case" 1600x1250 "$recordings/bound_$case.sqlite"
  "$bin/streamscope" report "$recordings/bound_$case.sqlite" --format html >"$work/$case.html"
  report "$case" 1330 "$work/$case.html"
done
