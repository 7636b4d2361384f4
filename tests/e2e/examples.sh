#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Each demo of libcoord, simulated, prints what it did; its trace shows the same.
here=$(cd "$(dirname "$0")" && pwd)
source "$here/lib.sh" "$1"

examples=("$bin"/examples/*)
((${#examples[@]})) || fail "no examples"
for example in "${examples[@]}"; do
  [[ -x $example && ! -d $example ]] || continue
  name=$(basename "$example")
  expected=0
  [[ $name != deadlock ]] || expected=3  # it hangs, and libcoord reports that
  code=0
  "$bin/streamscope" record -o "$name.sqlite" -- "$example" --device sim >"$name.txt" 2>"$name.err" || code=$?
  [[ $code == "$expected" ]] || fail "$name: exit code $code instead of $expected: $(cat "$name.err")"
  grep '^{' "$name.txt" | tail -1 >"$name.json"
  expect_counts "$name.sqlite" "$name.json"
  expect_complete "$name.sqlite" 1
  expect_one_file "$name.sqlite"
done

# Their tables show why their work started late.
python3 "$here/../causes/check_causes.py" "$bin/streamscope" ./*.sqlite || fail "causes and tables disagree"

# So are all tasks of the queue, each with the thread that ran it; of a type with the calls that it made.
tasks=$(sql task_queue.sqlite "select count(*) from v_task where queue = 'blocks' and thread is not null and sm is null and end_ns >= start_ns")
[[ $tasks == 32 ]] || fail "$tasks tasks instead of 32"
outside=$(sql task_queue.sqlite "select count(*) from api_call where name_id in (select id from string where value = 'simLaunchKernel')
  and not exists (select 1 from v_task where thread = api_call.thread_id and type is not null
                  and v_task.start_ns <= api_call.start_ns and v_task.end_ns >= api_call.end_ns)")
[[ $outside == 0 ]] || fail "$outside launches are in no task"
"$bin/streamscope" report task_queue.sqlite >report.txt
grep -q "Task queues" report.txt || fail "the report does not mention task queues: $(cat report.txt)"

# Pools of streams and of memory are there with their samples, as of kind 1 and 2.
for pool in "stream_pool 1 workers" "stream_memory 2 scratch"; do
  read -r name kind called <<<"$pool"
  samples=$(sql "$name.sqlite" "select count(*) from pool_sample join pool on pool.id = pool_id join string on string.id = name_id
    where kind = $kind and value = '$called' and in_use > 0")
  ((samples > 0)) || fail "$name: no samples of its pool in use"
done
