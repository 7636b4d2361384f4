#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A program that marks parts of itself, waits until they are stored, and has them cut out while it goes on.
source "$(dirname "$0")/lib.sh" "$1"

cat >cut.sh <<END
#!/usr/bin/env bash
unset LD_PRELOAD
exec "$bin/streamscope" cut "\$1" --range "\$2" -o "$work/\$2.sqlite" --quiet
END
chmod +x cut.sh

"$bin/streamscope" record -o whole.sqlite -- "$worker" parts 24 "$work/cut.sh" >out.txt 2>err.txt || fail "exit code $?: $(cat out.txt err.txt)"
expect_complete whole.sqlite 1

# The thread that marks: 24 and 48 steps, each with two kernels, a record and a wait; every eighth synchronizes.
for part in 1 2; do
  trace="part $part.sqlite"
  expect_one_file "$trace"
  expect_complete "$trace" 1
  of_marker="thread_id = (select thread_id from range)"
  [[ $(sql "$trace" "select count(*) from range") == 1 ]] || fail "$trace has other ranges"
  [[ $(sql "$trace" "select count(*) from event_record where $of_marker") == $((24 * part)) ]] || fail "$trace lacks records"
  [[ $(sql "$trace" "select count(*) from event_wait where $of_marker and record_id is not null") == $((24 * part)) ]] || fail "$trace lacks waits"
  [[ $(sql "$trace" "select count(*) from op join api_call on api_call.id = api_call_id where $of_marker") == $((48 * part)) ]] || fail "$trace lacks kernels"
  [[ $(sql "$trace" "select count(*) from op where start_ns is null or end_ns is null") == 0 ]] || fail "$trace has ops without times"
  [[ $(sql "$trace" "pragma foreign_key_check") == "" ]] || fail "$trace refers to rows that it lacks"
  # As in the whole trace.
  sql whole.sqlite "attach '$trace' as part; select count(*) from (
      select start_ns, end_ns from part.op except select start_ns, end_ns from main.op)" >missing.txt
  [[ $(cat missing.txt) == 0 ]] || fail "$trace has ops that the whole trace lacks"
  "$bin/streamscope" report "$trace" >report.txt || fail "no report of $trace"
done

expect_refusal() {  # TEXT ARGUMENT...
  local code=0
  "$bin/streamscope" cut "${@:2}" 2>err.txt || code=$?
  ((code == 2)) || fail "cut ${*:2} exited $code"
  grep -qF "$1" err.txt || fail "cut ${*:2} said: $(cat err.txt)"
}
expect_refusal "is not in the trace" whole.sqlite --range nothing -o x.sqlite
expect_refusal "is the trace to cut" whole.sqlite --range "part 1" -o whole.sqlite
expect_refusal "exists already" whole.sqlite --range "part 1" -o "part 1.sqlite"
"$bin/streamscope" cut whole.sqlite --range "part 1" -o "part 1.sqlite" --force --quiet || fail "cut --force exited $?"
expect_nobody
