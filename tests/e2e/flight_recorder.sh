#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A flight recorder keeps the newest part and writes it on request, when the program hangs and at its end; a recorder
# explains a program while it runs.
source "$(dirname "$0")/lib.sh" "$1"

"$bin/streamscope" record --flight-recorder 1 -o f.sqlite -- "$worker" forever >f.txt 2>f.err &
launcher=$!
wait_until 30 eval '[[ $(wc -l <f.txt) -gt 6000 ]]' || fail "it does not proceed: $(cat f.err)"
target=$(head -1 f.txt)

# expect_newest TRACE SAID: the newest steps are there, and no more than fits into 1 MiB of a thread.
expect_newest() {
  local waits
  "$bin/streamscope" info --json "$1" >info.json || fail "info $1: $?"
  waits=$(field info.json counts.event_wait)
  ((waits > 1000 && waits < 16384)) || fail "$1 has $waits waits, the program had done $2"
  [[ $(sql "$1" "select count(*) from loss join string on string.id = name_id where value = 'flight-recorder'") == 1 ]] ||
    fail "$1 does not report that it is a part"
  [[ $(sql "$1" "select count(*) from stream join string on string.id = name_id where value = 'first'") == 1 ]] ||
    fail "$1 has forgotten the names of streams"
  [[ $(sql "$1" 'pragma integrity_check') == ok ]] || fail "$1 is damaged"
}

size() { du -sk f.sqlite.rings | cut -f1; }
before=$(size)
dumped=$("$bin/streamscope" dump --pid "$target") || fail "dump: $?"
[[ $dumped == "$work/f-1.sqlite" ]] || fail "dumped into $dumped"
expect_newest f-1.sqlite "$(wc -l <f.txt)"
kill -USR2 "$launcher"
finished() { [[ $(sql "$1" "select value from meta where key = 'finished'" 2>/dev/null) == 1 ]]; }
wait_until 20 test -f f-2.sqlite || fail "SIGUSR2 brought no dump: $(ls)"
wait_until 20 finished f-2.sqlite || fail "the dump does not end"
expect_newest f-2.sqlite "$(wc -l <f.txt)"
[[ $(size) == "$before" ]] || fail "the rings grew from $before to $(size) KiB"
"$bin/streamscope" hang --pid "$target" >hang.txt || fail "hang --pid: $?: $(cat hang.txt)"
grep -q '^idle: ' hang.txt || fail "a program that works is called $(cat hang.txt)"
kill -KILL "$target"
code=0
wait "$launcher" || code=$?
[[ $code == 137 ]] || fail "exit code $code: $(cat f.err)"
expect_newest f.sqlite "$(wc -l <f.txt)"
[[ -z $(compgen -G '*.rings') ]] || fail "left behind: $(ls)"

# A process without a recorder, or without a flight recorder, is reported in one line.
expect_refusal() {
  local code=0
  "$bin/streamscope" "$@" >out.txt 2>err.txt || code=$?
  [[ $code == 2 && $(wc -l <err.txt) == 1 ]] || fail "$*: exit code $code: $(cat err.txt)"
}
expect_refusal hang --pid $$
expect_refusal dump --pid $$
expect_refusal hang
expect_refusal hang --pid 999999999

child=$bin/tests/collect_child
[[ -x $child ]] || exit 0

# This one is not watched; it is explained on request, and lives on.
"$bin/streamscope" record --hang-timeout 0 -o h.sqlite -- "$child" hang lost-signal >/dev/null 2>h.err &
launcher=$!
wait_until 20 eval 'target=$(pgrep -P "$launcher") && grep -q "/control$" "/proc/$target/maps"' || fail "no child"
sleep 0.5
expect_refusal dump --pid "$target"
for round in 1 2; do
  code=0
  "$bin/streamscope" hang --pid "$target" >hang.txt || code=$?
  [[ $code == 1 ]] || fail "hang --pid: exit code $code: $(cat hang.txt)"
  grep -q '^lost-signal: ' hang.txt || fail "hang --pid says $(cat hang.txt)"
  grep -q hangs_here hang.txt || fail "no stack: $(cat hang.txt)"
  kill -0 "$target" || fail "round $round killed it"
done
kill -KILL "$target"
wait "$launcher" || true
[[ $(sql h.sqlite 'select count(*) from hang') == 2 ]] || fail "the trace has not kept the answers"
[[ $(sql h.sqlite 'select count(*) from host_sync where end_ns is null') == 1 ]] || fail "the open call is there twice"

# A program that hangs is written out.
code=0
"$bin/streamscope" record --flight-recorder 1 --hang-timeout 0.7 --on-hang abort -o g.sqlite -- "$child" hang lost-signal \
  >/dev/null 2>g.err || code=$?
[[ $code == 124 ]] || fail "exit code $code: $(cat g.err)"
grep -q 'hangs: lost-signal' g.err || fail "no verdict: $(cat g.err)"
[[ $(sql g-1.sqlite "select value from hang join string on string.id = verdict_id") == lost-signal ]] || fail "not in the trace"
[[ -z $(compgen -G '*.rings') ]] || fail "left behind: $(ls)"

# The program itself may request it.
"$bin/streamscope" record --flight-recorder 1 -o a.sqlite -- "$child" hang asks-for-dump >/dev/null 2>a.err || fail "$(cat a.err)"
for trace in a-1.sqlite a.sqlite; do
  [[ $(sql "$trace" 'select count(*) from op') == 10 ]] || fail "$trace: $(sql "$trace" 'select count(*) from op') ops"
done
