#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Findings about the host's waiting and about the legacy default stream name the line of the program that did it.
source "$(dirname "$0")/lib.sh" "$1"

# places TRACE: detector and call site of these findings, a line each
places() {
  "$bin/streamscope" check --format json "$1" >check.json || true
  sqlite3 -separator ' ' :memory: "select json_extract(value, '\$.detector'), json_extract(value, '\$.called_from')
    from json_each(cast(readfile('check.json') as text), '\$.findings')
    where json_extract(value, '\$.detector') in ('over-broad-sync', 'legacy-stream-barrier', 'redundant-host-sync')"
}

"$bin/apps/faults" --list >faults.json
seen=
while read -r line; do
  echo "$line" >line.json
  fault=$(field line.json fault)
  "$bin/streamscope" record -o "$fault.sqlite" -- "$bin/apps/faults" "$fault" --device sim >/dev/null 2>&1 ||
    fail "$fault exited $?"
  while read -r detector place; do
    [[ -n $detector ]] || continue
    [[ $place =~ ^faults\.cpp:[0-9]+\ .*$fault ]] || fail "$fault: $detector is called from '$place'"
    seen+=" $detector"
  done <<<"$(places "$fault.sqlite")"
done <faults.json
for detector in over-broad-sync legacy-stream-barrier redundant-host-sync; do
  [[ $seen == *" $detector"* ]] || fail "no finding of $detector"
done
grep -q 'from faults.cpp:[0-9]' <<<"$("$bin/streamscope" report device_syncs.sqlite)" || fail "the report names no line"

# Not if stacks are not wanted.
"$bin/streamscope" record --stacks none -o bare.sqlite -- "$bin/apps/faults" device_syncs --device sim >/dev/null 2>&1
[[ $(sql bare.sqlite 'select count(*) from stack') == 0 ]] || fail "stacks that were not requested"
