#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# kill -9 of `analyze` and of the recorder, just before one of the system calls by which they change files, over all of
# these calls (./dev nightly) or a sample: the trace alone is whole wherever it is taken, and a recording loses nothing.
source "$(dirname "$0")/lib.sh" "$1"
kill_at=$bin/tests/kill_at
[[ $(uname -m) == x86_64 ]] || exit 77

all=${STREAMSCOPE_ALL_KILLS:-}
derived='select (select count(*) from edge), (select count(*) from wait_cause), (select count(*) from critical_path), (select count(*) from lod)'

# alone TRACE QUERY: as from a medium that cannot be written, to which nothing but the trace was copied
alone() {
  rm -rf alone
  mkdir alone
  cp "$1" alone/t.sqlite
  sqlite3 "file:$work/alone/t.sqlite?immutable=1" "$2"
}

"$bin/streamscope" record --quiet -o whole.sqlite -- "$worker" count 300 >/dev/null
with=$(sql whole.sqlite "$derived")
cp whole.sqlite without.sqlite
sqlite3 without.sqlite "delete from edge; delete from wait_cause; delete from critical_path; delete from lod;
  delete from finding; delete from meta where key = 'analysis_version'"
kills=0
for ((n = 1; ; n += ${all:-8})); do
  cp without.sqlite t.sqlite
  "$kill_at" $n "$bin/streamscope" analyze --quiet t.sqlite >out.txt 2>&1 || break
  kills=$((kills + 1))
  got=$(alone t.sqlite "$derived") || fail "killed at $n: the trace alone is unreadable: $got"
  [[ $got == "$with" || $got == '0|0|0|0' ]] || fail "killed at $n: some derived tables are there: $got of $with"
done
((kills > 5)) || fail "analyze was killed $kills times: $(cat out.txt)"
[[ $(alone t.sqlite "$derived") == "$with" ]] || fail "analyze did not write: $(cat out.txt)"
! compgen -G '.*streamscope-*' >/dev/null || fail "left behind: $(ls -A)"

# The recorder. The program continues without it; what it does is in the rings, or in a trace that its own writer makes.
STREAMSCOPE_BIN=/none
export STREAMSCOPE_BIN
kills=0 recovered=0
idle() { (expect_nobody) >/dev/null; }
for ((n = 1; ; n += ${all:-15})); do
  rm -rf run
  mkdir run
  "$kill_at" $n "$bin/streamscope" record --quiet --hang-timeout 0 -o run/t.sqlite -- "$worker" count 50 >out.txt 2>err.txt || break
  kills=$((kills + 1))
  wait_until 20 idle || fail "killed at $n: the program does not end"
  [[ -s out.txt ]] || continue  # the program was never started
  # It did all its steps, so they are in the trace, unless there was no recorder any more when it began.
  [[ -d run/t.sqlite.rings || -e run/t.sqlite ]] || grep -q 'not recording' err.txt || fail "killed at $n: nothing is left: $(ls -A run) $(cat err.txt)"
  [[ -d run/t.sqlite.rings || -e run/t.sqlite ]] || continue
  "$bin/streamscope" info --json run/t.sqlite >info.json 2>info.err || { grep -q 'not recording' err.txt && continue; }
  [[ $(field info.json counts.event_record) == 50 && $(field info.json counts.kernel) == 100 ]] ||
    fail "killed at $n: $(cat info.json info.err)"
  recovered=$((recovered + 1))
  [[ $(alone run/t.sqlite 'select count(*) from event_record') == 50 ]] || fail "killed at $n: the trace alone is not whole"
  left=$(find run -mindepth 1 -maxdepth 1 ! -name '.t.sqlite.streamscope-*' -printf '%f\n')
  [[ $left == t.sqlite ]] || fail "killed at $n: left behind: $left"
done
((recovered > 5)) || fail "the recorder was killed $kills times, and $recovered traces were whole: $(cat err.txt)"
echo "$kills kills of the recorder, $recovered of them while it recorded"
