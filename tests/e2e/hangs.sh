#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Programs that hang are explained during the hang, with verdict and culprit; slow ones raise no alarm. The
# driver and CUPTI are stand-ins (tests/collect/hang_scenarios.cpp).
source "$(dirname "$0")/lib.sh" "$1"

child=$bin/tests/collect_child
[[ -x $child ]] || { echo "SKIPPED: built without the CUDA headers"; exit 0; }
limit=0.7  # seconds; a diagnosis may take two more
in_time=(timeout -s KILL 60)  # what is not explained must not be left behind

# hangs NAME VERDICT CULPRIT: ended with 124; the text names the verdict, and a line of it the culprit.
hangs() {
  local name=$1 verdict=$2 culprit=$3 code=0 late
  "${in_time[@]}" "$bin/streamscope" record -o "$name.sqlite" --hang-timeout $limit --on-hang abort -- \
    "$child" hang "$name" >"$name.out" 2>"$name.err" || code=$?
  [[ $code == 124 ]] || fail "$name: exit code $code instead of 124: $(cat "$name.err")"
  grep -q "hangs: $verdict: " "$name.err" || fail "$name is not called $verdict: $(cat "$name.err")"
  grep -Eq "$culprit" "$name.err" || fail "$name: '$culprit' is not named: $(cat "$name.err")"
  [[ $(sql "$name.sqlite" "select value from hang join string on string.id = verdict_id") == "$verdict" ]] ||
    fail "$name: the trace says $(sql "$name.sqlite" 'select * from hang')"
  [[ $(sql "$name.sqlite" "select count(*) > 0 from hang_node") == 1 ]] || fail "$name: no wait-for graph"
  late=$(sql "$name.sqlite" "select max(0, min(start_ns) - (select max(ns) from (select max(end_ns) as ns from api_call
    union all select max(end_ns) from event_wait
    union all select max(end_ns) from host_sync where result is not 600))) / 1000000 from hang")
  ((late < 2700)) || fail "$name: diagnosed after $late ms"
  code=0
  "$bin/streamscope" hang "$name.sqlite" --quiet >"$name.hang" || code=$?
  [[ $code == 1 ]] || fail "hang $name.sqlite: exit code $code"
  grep -q "^$verdict: " "$name.hang" || fail "hang $name.sqlite says $(cat "$name.hang")"
  expect_one_file "$name.sqlite"
}

# waits_in_coord NAME VERDICT CULPRIT: a program of libcoord's, on the simulated device
waits_in_coord() {
  local name=$1 verdict=$2 culprit=$3 code=0
  "${in_time[@]}" "$bin/streamscope" record -o "$name.sqlite" --hang-timeout $limit --on-hang abort -- \
    "$bin/apps/coord_hang" "$name" --device sim >"$name.out" 2>"$name.err" || code=$?
  [[ $code == 124 ]] || fail "$name: exit code $code instead of 124: $(cat "$name.err")"
  grep -q "hangs: $verdict: " "$name.err" || fail "$name is not called $verdict: $(cat "$name.err")"
  grep -Eq "$culprit" "$name.err" || fail "$name: '$culprit' is not named: $(cat "$name.err")"
  grep -q waits_for_news "$name.err" || fail "$name: no stack of the thread that should come: $(cat "$name.err")"
  [[ $(sql "$name.sqlite" "select count(*) from hang_node where kind = 0 and object_id not null and stack_id not null") -ge 1 ]] ||
    fail "$name: the graph has no thread with its stack"
  [[ $(sql "$name.sqlite" "select count(*) > 0 from hang_edge") == 1 ]] || fail "$name: nobody waits in the graph"
  code=0
  "$bin/streamscope" hang "$name.sqlite" --quiet >"$name.hang" || code=$?
  [[ $code == 1 ]] && grep -Eq "$culprit" "$name.hang" || fail "hang $name.sqlite: exit code $code: $(cat "$name.hang")"
  code=0
  "$bin/streamscope" report "$name.sqlite" --quiet | tr -s ' \n' ' ' >"$name.report"
  grep -Eq "$4" "$name.report" || fail "report $name.sqlite does not name it: $(cat "$name.report")"
  "$bin/streamscope" check "$name.sqlite" --quiet >"$name.check" || code=$?
  # Threads of a simulated device have separate clocks, which may leave some order open.
  [[ $code == 1 || $code == 3 ]] && grep -q SS102 "$name.check" || fail "check $name.sqlite: exit code $code: $(cat "$name.check")"
  expect_one_file "$name.sqlite"
}

# slow NAME: killed after some seconds; until then nothing was reported.
slow() {
  local name=$1
  "$bin/streamscope" record -o "$name.sqlite" --hang-timeout $limit -- timeout -s KILL 3 "$child" hang "$name" \
    >"$name.out" 2>"$name.err" || true
  ! grep -q "hangs:" "$name.err" || fail "$name raised an alarm: $(cat "$name.err")"
  [[ $(sql "$name.sqlite" "select count(*) from hang") == 0 ]] || fail "$name: the trace knows a hang"
}

# A few at a time: they mostly sleep, but taking stacks has a time limit.
running=()
start() {
  "$@" &
  running+=($!)
  if ((${#running[@]} == 3)); then finish; fi
}
finish() {
  local pid
  for pid in "${running[@]}"; do wait "$pid" || exit 1; done
  running=()
}

start hangs lost-signal lost-signal 'needs 1 at 0x[0-9a-f]+, which holds 0'
start hangs crossed-signals deadlock 'streams? .* wait for each other'
start hangs stuck-kernel stuck-kernel 'spin on stream .* does not end'
start hangs host-function-on-mutex deadlock 'waits for a lock held by cudaStreamSynchronize'
start hangs host-function-on-flag host-function-blocked 'waits_for_a_flag'
start hangs host-not-feeding host-not-feeding 'waits_for_food'
start hangs opposite-locks deadlock 'waits for a lock held by'
start hangs free-under-spin implicit-sync 'cudaFree .* waits for all work on the device, and spin'
start hangs lazy-loading implicit-sync 'CUDA_MODULE_LOADING=EAGER'
start hangs full-queue launch-queue-full 'the queue of stream .* is full'
start hangs endless-poll lost-signal 'in cudaEventQuery'
start hangs stalled-queries lost-signal 'hangs_here'
start hangs graph-behind-record lost-signal 'waits for a value that is never written'
start waits_in_coord missing-participant missing-participant \
  'barrier .exchange. .* missing: .*gather.*coord.cpp:[0-9]+ .*submit_kernel' 'barrier .exchange.'
start waits_in_coord unsignaled-timeline lost-signal \
  'waits for value 4 of timeline .frames., which was signaled up to 3' 'value 4 of timeline'
finish
start slow slow-kernel
start slow busy-producer
start slow idle-server
start slow long-host-work
start slow stopped-by-debugger
start slow steady-progress
start slow poll-with-progress
start slow compiling
finish

# Every hanging program's own thread is named in its stack.
for name in lost-signal crossed-signals stuck-kernel; do
  grep -q hangs_here "$name.err" || fail "$name: no stack: $(cat "$name.err")"
done

# The simulated device ends a hopeless wait at once; no sample is needed.
code=0
"$bin/streamscope" demo deadlock --device sim --quiet -o demo.sqlite >/dev/null 2>demo.err || code=$?
[[ $code == 3 ]] || fail "demo deadlock: exit code $code: $(cat demo.err)"
[[ $(sql demo.sqlite "select value from hang join string on string.id = verdict_id") == deadlock ]] || fail "demo deadlock: no hang"
[[ $(sql demo.sqlite "select count(*) from hang_node where in_cycle = 1") -ge 4 ]] || fail "demo deadlock: no cycle"
"$bin/streamscope" hang demo.sqlite >demo.hang || code=$?
grep -q '^deadlock: stream .*left and stream .*right wait for each other' demo.hang || fail "hang demo.sqlite says $(cat demo.hang)"

# threads_when TIMEOUT: the names of all threads of recorder and program, while the program works
threads_when() {
  "$bin/streamscope" record --quiet --hang-timeout "$1" -o "threads-$1.sqlite" -- "$child" crash linger working \
    >"threads-$1.out" 2>&1 &
  local launcher=$! target
  wait_until 30 grep -qs '^calls ' "threads-$1.out" || fail "the lingering program does not come to its stage"
  target=$(pgrep -P "$launcher")
  names() { cat "/proc/$launcher"/task/*/comm "/proc/$target"/task/*/comm | sort; }
  has() { names | grep -qx "$1"; }
  # A thread has the name of the one that made it until it takes its own.
  wait_until 30 has streamscope-dec && wait_until 30 has streamscope-fls || fail "the threads are: $(names)"
  names
  kill -KILL "$target"
  wait "$launcher" || true
}

# Without the watch there is no thread for it; with it there is none either until it has to query.
off=$(threads_when 0)
[[ -n $off && $off != *streamscope-ask* ]] || fail "without the watch the threads are: $off"
[[ $(threads_when 30) == "$off" ]] || fail "the watch adds threads to: $off"
echo "threads without the watch and with it: $(tr '\n' ' ' <<<"$off")"
