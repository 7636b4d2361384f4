#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The viewer's page (./dev web makes it) in headless Chromium: it draws what the viewer draws, for every panel, and takes
# input. STREAMSCOPE_WEB_TRACES=all compares the pictures of all of traces/ instead of two.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
playwright=${STREAMSCOPE_PLAYWRIGHT:-}
source "$(dirname "$0")/lib.sh" "$1"
[[ -n $playwright ]] || playwright=$build/playwright  # where ./dev test puts it
page=${STREAMSCOPE_WEB_VIEWER:-$root/build-web/viewer.html}
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }
[[ -f $page ]] || { echo "skipped: no $page (./dev web makes it)"; exit 77; }
[[ -x $bin/streamscope-viewer ]] || { echo "skipped: the viewer was not built"; exit 77; }

traces=("$root/traces/pipeline.sqlite" "$root/traces/torch_streams.sqlite")
[[ ${STREAMSCOPE_WEB_TRACES:-} != all ]] || traces=("$root"/traces/*.sqlite)
for run in "pictures $page $bin/streamscope-viewer ${traces[*]}" "input $page $root/traces/pipeline.sqlite $root/traces/forkjoin.sqlite"; do
  read -ra words <<<"$run"
  code=0
  STREAMSCOPE_PLAYWRIGHT=$playwright node "$root/tests/web/page.mjs" "${words[@]}" || code=$?
  ((code == 77)) && exit 77
  ((code == 0)) || fail "${words[0]}"
done
echo "passed"
