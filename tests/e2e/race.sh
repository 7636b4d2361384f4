#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# `demo race` names the two operations that race; the fixed program has no such finding.
source "$(dirname "$0")/lib.sh" "$1"

"$bin/streamscope" demo race --device sim --iterations 6 -o race.sqlite >race.txt 2>race.err ||
  fail "demo race: $(cat race.err)"
grep -q 'SS001' race.txt || fail "the report names no race: $(cat race.txt)"
races() {
  "$bin/streamscope" analyze --quiet "$1" >/dev/null
  sqlite3 -separator ' | ' "$1" "select title.value, finding.count from finding
    join string detector on detector.id = finding.detector_id
    join string title on title.id = finding.title_id
    where detector.value in ('stream-race', 'host-race', 'use-before-alloc', 'use-after-free')"
}
found=$(races race.sqlite)
[[ $found == *"sum on stream "*"math and memcpy HtoD on stream "*"copies access the same memory without ordering | 5" ]] ||
  fail "found instead of one race between the load and the sum: $found"

"$bin/streamscope" record -o repaired.sqlite -- "$bin/examples/race" --device sim --repaired >repaired.txt 2>&1 ||
  fail "the fixed program fails: $(cat repaired.txt)"
found=$(races repaired.sqlite)
[[ -z $found ]] || fail "the fixed program is reported to race: $found"
