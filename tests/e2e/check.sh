#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# From a program to a verdict: `check` on the traces of the demos.
source "$(dirname "$0")/lib.sh" "$1"

# expect_check CODE TRACE [OPTION...]
expect_check() {
  local expected=$1 code=0
  shift
  "$bin/streamscope" check "$@" >check.txt 2>check.err || code=$?
  [[ $code == "$expected" ]] || fail "check $*: exit code $code instead of $expected: $(cat check.txt check.err)"
}

for demo in pipeline forkjoin pools; do
  "$bin/streamscope" demo "$demo" --device sim -o $demo.sqlite >/dev/null 2>&1 || fail "demo $demo exited $?"
  expect_check 0 $demo.sqlite
done
# Programs whose threads record and wait for each other's events: on a simulated device nothing about that is in doubt.
for example in stream_group stream_memory stream_pool task_queue; do
  "$bin/streamscope" record -o "$example.sqlite" -- "$bin/examples/$example" --device sim >/dev/null 2>&1 || fail "$example exited $?"
  expect_check 0 "$example.sqlite"
done
expect_check 2 missing.sqlite

"$bin/streamscope" demo deadlock --device sim -o deadlock.sqlite >/dev/null 2>&1 || true
expect_check 1 deadlock.sqlite
grep -q 'stream [0-9]* left and stream [0-9]* right wait for each other' check.txt || fail "no cycle: $(cat check.txt)"
grep -q 'SS101 deadlock-cycle' check.txt || fail "no rule: $(cat check.txt)"

# Planted hangs, and their fixed twins.
"$bin/apps/hangs" --list | while read -r line; do
  echo "$line" >line.json
  [[ $(field line.json simulated) == 1 ]] || continue
  hang=$(field line.json hang)
  "$bin/streamscope" record -o "$hang.sqlite" -- "$bin/apps/hangs" "$hang" --device sim >/dev/null 2>&1 || true
  expect_check 1 "$hang.sqlite" --format json
  field check.txt findings | grep -q "\"detector\":\"$(field line.json detector)\"" || fail "$hang: $(cat check.txt)"
  "$bin/streamscope" record -o "$hang-repaired.sqlite" -- "$bin/apps/hangs" "$hang" --repaired --device sim >/dev/null 2>&1 ||
    fail "$hang --repaired exited $?"
  expect_check 0 "$hang-repaired.sqlite"
done
