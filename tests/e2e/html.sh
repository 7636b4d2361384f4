#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The HTML report of a clean run, a race and a deadlock, used in a headless Chromium; hostile names do nothing.
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
for trace in pipeline race deadlock hostile; do
  "$bin/streamscope" report $trace.sqlite --format html -o $trace.html || fail "report exited $?"
  if grep -q '<img' $trace.html; then fail "a name became an element"; fi
  code=0
  STREAMSCOPE_PLAYWRIGHT=$playwright node "$page_test" $trace.html $trace.png || code=$?
  ((code == 77)) && exit 77
  ((code == 0)) || fail "$trace.html"
done
echo "passed"
