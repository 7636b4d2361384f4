#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# As crash_matrix.sh, for programs of libcoord on the simulated device: every way to end at every stage leaves a trace
# with every step that was done, no ring and no process.
source "$(dirname "$0")/lib.sh" "$1"

declare -A code_of=([return]=0 [exit]=7 [_exit]=7 [abort]=134 [kill]=137 [terminate]=143 [fault]=139)

# cell HOW WHEN
cell() {
  local name=$1-$2 code=0 said got complete=1
  "$bin/streamscope" record --quiet -o "$name.sqlite" -- "$worker" crash "$1" "$2" >"$name.out" 2>"$name.err" || code=$?
  [[ $code == "${code_of[$1]}" ]] || fail "$name: exit code $code: $(cat "$name.err")"
  said=$(tail -1 "$name.out")
  [[ $said =~ ^[0-9]+$ ]] || fail "$name did not come to its stage: $(cat "$name.out" "$name.err")"
  [[ $(sql "$name.sqlite" 'pragma integrity_check') == ok ]] || fail "$name is damaged"
  for table in event_record event_wait; do
    got=$(sql "$name.sqlite" "select count(*) from $table where end_ns not null")
    ((got >= said)) || fail "$name has $got of $table, the program had done $said"
  done
  case $1 in _exit | abort | kill | terminate | fault) complete=0 ;; esac
  got=$(sql "$name.sqlite" "select min(complete) from process")
  [[ $got == "$complete" ]] || fail "$name: complete is $got instead of $complete"
  # Work has its times, or is counted as lost or not ended.
  got=$(sql "$name.sqlite" "select (select count(*) from op where end_ns is null) <= (select total(count) from loss
    join string on string.id = name_id where value in ('times-not-delivered', 'work-not-ended', 'ring-full'))")
  [[ $got == 1 ]] || fail "$name: work without times is not counted"
  expect_one_file "$name.sqlite"
}

cells=0
for how in "${!code_of[@]}"; do
  for when in started working synchronized inside-a-call while-others-work; do
    cell "$how" "$when"
    cells=$((cells + 1))
  done
done
expect_nobody
echo "$cells cells"
