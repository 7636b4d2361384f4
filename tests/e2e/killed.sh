#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# SIGKILL: what reached a ring is in the trace, whether the target died alone or together with its writer.
source "$(dirname "$0")/lib.sh" "$1"

# start NAME COMMAND...: runs in the background with its output in NAME.txt; the target's process id is its first line.
start() {
  local name=$1
  shift
  "$@" >"$name.txt" 2>"$name.err" &
  launcher=$!
  wait_until 20 eval "[[ \$(wc -l <$name.txt) -gt 300 ]]" || fail "$name does not proceed: $(cat "$name.err")"
  target=$(head -1 "$name.txt")
}

# expect_at_least TRACE NAME: every step that the program had reported is there, and at most one more.
expect_at_least() {
  local said got
  said=$(grep -c . "$2.txt")
  said=$((said - 1))
  expect_complete "$1" 0
  for key in event_record event_wait; do
    got=$(field info.json "counts.$key")
    ((got == said || got == said + 1)) || fail "$1 has $got of $key, the program had done $said"
  done
  [[ $(sql "$1" 'pragma integrity_check') == ok ]] || fail "$1 is damaged"
}

start target "$bin/streamscope" record -o target.sqlite -- "$worker" forever
kill -KILL "$target"
code=0
wait "$launcher" || code=$?
[[ $code == 137 ]] || fail "exit code $code instead of 137"
expect_at_least target.sqlite target
expect_one_file target.sqlite

start both "$bin/streamscope" record -o both.sqlite -- "$worker" forever
kill -KILL "$launcher" "$target"
wait "$launcher" 2>/dev/null || true
[[ -d both.sqlite.rings ]] || fail "the rings are gone: $(ls)"
"$bin/streamscope" info both.sqlite >/dev/null || fail "recovery failed: $("$bin/streamscope" info both.sqlite 2>&1)"
expect_at_least both.sqlite both
expect_one_file both.sqlite

# The helper of a preloaded run outlives its program as well.
start helper env LD_PRELOAD="$inject" "$worker" forever
kill -KILL "$target"
finished() { compgen -G 'worker-*.sqlite' >/dev/null && ! compgen -G 'worker-*.sqlite?*' >/dev/null; }
wait_until 20 finished || fail "the helper did not finish; there is: $(ls)"
expect_at_least "$(ls worker-*.sqlite)" helper
