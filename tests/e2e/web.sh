#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The viewer's page (./dev web makes it) in headless Chromium: it draws what the viewer draws, for every panel, and takes
# input. STREAMSCOPE_WEB_TRACES=all compares the pictures of all of traces/ instead of two.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
playwright=${STREAMSCOPE_PLAYWRIGHT:-} page=${STREAMSCOPE_WEB_VIEWER:-$root/build-web/viewer.html}
compared=${STREAMSCOPE_WEB_TRACES:-} pictures=${STREAMSCOPE_PICTURES:-}
source "$(dirname "$0")/lib.sh" "$1"
[[ -n $playwright ]] || playwright=$build/playwright  # where ./dev test puts it
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }
[[ -f $page ]] || { echo "skipped: no $page (./dev web makes it)"; exit 77; }
[[ -x $bin/streamscope-viewer ]] || { echo "skipped: the viewer was not built"; exit 77; }

traces=("$root/traces/pipeline.sqlite" "$root/traces/torch_streams.sqlite")
[[ $compared != all ]] || traces=("$root"/traces/*.sqlite)
# A run of two ranks.
for rank in 0 1; do
  RANK=$rank WORLD_SIZE=2 STREAMSCOPE_JOB=1 "$bin/streamscope" record --quiet --run run -- "$bin/examples/pipeline" >/dev/null 2>said || fail "run: $(cat said)"
done
"$bin/streamscope" report run >/dev/null 2>&1 || true  # its summaries, so that both viewers find them

# Names that would be more than text, if they were taken for it: of kernels, ranges, threads, calls, the process, and of the file.
hostile='<img src=x onerror=hacked=1>"&.sqlite'
cp "$root/traces/pipeline.sqlite" "$hostile"
# shellcheck disable=SC2016  # not for the shell
sqlite3 "$hostile" 'UPDATE string SET value = '"'"'</script><script>hacked=1</script><img src=x onerror="hacked=1">`${hacked=1}'"'"' || char(0x202e) || value'
"$bin/streamscope" report "$hostile" --format app --quiet -o hostile.html || fail "no page of a trace with hostile names"

# A trace with an overview, as a page that is reduced to it, and served by the pages with and without threads.
overview=$root/traces/torch_streams.sqlite
"$bin/streamscope" report "$overview" --format app --max-mb "$((($(stat -c %s "$page") + 60000) / 1000))e-3" --quiet -o overview.html || fail "no overview"
"$bin/streamscope" view --serve "$overview" >address 2>said &
companions+=($!)
for _ in {1..100}; do [[ -s address ]] && break; sleep 0.1; done
address=$(<address) with_threads=threads
[[ -f $root/build-web-threads/viewer-threads.html ]] || with_threads=served

for run in "$with_threads $address" "served ${address}plain/" "overview $work/overview.html" "pictures $page $bin/streamscope-viewer $work/run ${traces[*]}" "whole $work/hostile.html" "input $page $root/traces/pipeline.sqlite $root/traces/forkjoin.sqlite"; do
  read -ra words <<<"$run"
  code=0
  STREAMSCOPE_PICTURES=$pictures STREAMSCOPE_PLAYWRIGHT=$playwright node "$root/tests/web/page.mjs" "${words[@]}" || code=$?
  ((code == 77)) && exit 77
  ((code == 0)) || fail "${words[0]}"
done
echo "passed"
