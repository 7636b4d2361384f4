#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The HTML report of a clean run, a race, a deadlock and recordings with iterations, used in a headless Chromium; hostile
# names do nothing.
traces=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../traces" && pwd)
page_test=$(cd "$(dirname "${BASH_SOURCE[0]}")/../report" && pwd)/html_page.mjs
playwright=${STREAMSCOPE_PLAYWRIGHT:-}
source "$(dirname "$0")/lib.sh" "$1"
[[ -n $playwright ]] || playwright=$build/playwright  # where ./dev test puts it
command -v node >/dev/null || { echo "skipped: no node"; exit 77; }

for demo in pipeline race deadlock; do
  "$bin/streamscope" demo $demo --device sim -o $demo.sqlite >/dev/null 2>&1 || [[ $demo == deadlock && -f $demo.sqlite ]] || fail "demo $demo exited $?"
done
cp race.sqlite hostile.sqlite
sqlite3 hostile.sqlite "update string set value = '</script><script>alert(1)</script><img src=x onerror=alert(2)>' || value"
cp "$traces/torch_streams.sqlite" "$traces/example_fork_join.sqlite" .
shown=(pipeline deadlock hostile torch_streams)  # what is hostile has the findings of a race
[[ ${STREAMSCOPE_WEB_TRACES:-} != all ]] || shown+=(race example_fork_join)
for trace in "${shown[@]}"; do
  "$bin/streamscope" report $trace.sqlite --format html -o $trace.html || fail "report exited $?"
  if grep -q '<img' $trace.html; then fail "a name became an element"; fi
  case $trace in torch_streams | example_fork_join) grep -q 'class="strip"' $trace.html || fail "$trace.html shows no iterations" ;; esac
  code=0
  STREAMSCOPE_PLAYWRIGHT=$playwright node "$page_test" $trace.html $trace.png || code=$?
  ((code == 77)) && exit 77
  ((code == 0)) || fail "$trace.html"
done
echo "passed"
