#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Recording a part of a run: after a delay, for a duration, inside NVTX ranges, between the profiler's own calls.
source "$(dirname "$0")/lib.sh" "$1"

record() { "$bin/streamscope" record --force "$@"; }
ops() { sql "$1" 'select count(*) from op'; }

# A program that runs until it is stopped, on a simulated device; after every step it prints how many are done.
start() {
  rm -f t.sqlite steps
  record -o t.sqlite "$@" -- "$worker" forever >steps 2>err.txt &
  recorder=$!
  wait_until 20 test -s steps || fail "the program does not run: $(cat err.txt)"
  pid=$(head -1 steps)
}
done_steps() { tail -1 steps; }
stop() {
  kill "$pid"
  wait "$recorder" || true
}
more_steps() {  # the program does some more
  local from
  from=$(done_steps)
  wait_until 20 eval "(( \$(done_steps) > $from + 50 ))" || fail "the program hangs"
}

# A delay: the steps before it are not in the trace, those after it are.
start --delay 0.3
wait_until 20 eval '[[ -f t.sqlite ]] && (( $(ops t.sqlite) > 0 ))' || fail "the recording never began"
stop
recorded=$(ops t.sqlite)
((recorded > 0 && recorded < 2 * $(done_steps))) || fail "$recorded ops are in the trace of $(done_steps) steps"
[[ $(sql t.sqlite "select count(*) from loss") -gt 0 ]] || fail "the pause is not reported"

# A duration: recording stops, the program continues.
start --duration 0.2
stopped() {
  local before
  before=$(ops t.sqlite)
  more_steps
  ((before > 0 && $(ops t.sqlite) == before))
}
wait_until 20 test -f t.sqlite || fail "no trace"
wait_until 20 stopped || fail "the recording never stopped"
stop
((0 < $(ops t.sqlite) && $(ops t.sqlite) < 2 * $(done_steps))) || fail "$(ops t.sqlite) ops of $(done_steps) steps"

# A delay that the program does not live to see.
record -o none.sqlite --delay 1000 -- "$worker" count 8 >/dev/null 2>err.txt
[[ $(ops none.sqlite) == 0 ]] || fail "ops before the delay"
grep -q 'no work was issued' err.txt || fail "an empty recording is not explained: $(cat err.txt)"

# Ranges, on a stand-in for CUDA.
program=$bin/tests/collect_child
[[ -x $program ]] || exit 0
names() { sql "$1" 'select group_concat(name) from (select name from v_op order by id)'; }
record -o p.sqlite --capture-range cudaProfilerApi -- "$program" profiler-range 2>/dev/null
[[ $(names p.sqlite) == inside ]] || fail "between the profiler's calls: $(names p.sqlite)"
record -o n.sqlite --capture-range nvtx:step -- "$program" nvtx-range 2>/dev/null
[[ $(names n.sqlite) == "inside,still inside,inside again" ]] || fail "inside the range: $(names n.sqlite)"
record -o never.sqlite --capture-range nvtx:never -- "$program" nvtx-range 2>err.txt
[[ -z $(names never.sqlite) ]] || fail "outside of any range: $(names never.sqlite)"
grep -q 'NVTX range "never"' err.txt || fail "an empty recording is not explained: $(cat err.txt)"
