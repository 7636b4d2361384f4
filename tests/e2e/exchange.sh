#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Traces out to other tools' formats and back in; the gate of a build from baseline to verdict.
source "$(dirname "$0")/lib.sh" "$1"

expect_code() {
  local expected=$1 code=0
  shift
  "$bin/streamscope" "$@" >out.txt 2>err.txt || code=$?
  [[ $code == "$expected" ]] || fail "$*: exit code $code instead of $expected: $(cat out.txt err.txt)"
}

"$bin/streamscope" demo pipeline --device sim -o pipeline.sqlite >/dev/null 2>&1 || fail "demo pipeline exited $?"
"$bin/streamscope" demo race --device sim -o race.sqlite >/dev/null 2>&1 || fail "demo race exited $?"

# Out and back: what the format can hold is the same.
expect_code 0 export pipeline.sqlite --to chrome -o pipeline.json
expect_code 0 import pipeline.json -o back.sqlite
for count in "count(*) from op" "count(*) from op where kind = 0" "sum(end_ns - start_ns) from op" "count(*) from event_record" \
  "count(*) from event_wait where binding = 0" "count(*) from host_sync where kind < 3" "count(*) from range"; do
  [[ $(sql pipeline.sqlite "select $count") == "$(sql back.sqlite "select $count")" ]] ||
    fail "$count: $(sql pipeline.sqlite "select $count") became $(sql back.sqlite "select $count")"
done
[[ $(sql pipeline.sqlite "select count(*) from edge where kind = 1") == \
  "$(sql back.sqlite "select count(*) from edge where kind = 1")" ]] || fail "event edges differ"

# It is the same program, by the same names.
expect_code 0 diff pipeline.sqlite back.sqlite --format json
[[ $(field out.txt work) == "[]" ]] || fail "work differs after export and import: $(field out.txt work)"
[[ $(sqlite3 :memory: "select count(*) from json_each(cast(readfile('out.txt') as text), '$.edges') where value ->> 'kind' = 'event'") == 0 ]] ||
  fail "event edges differ after export and import: $(field out.txt edges)"

for format in chakra perfetto dot csv; do
  expect_code 0 export pipeline.sqlite --to $format -o out.$format
  [[ -s out.$format ]] || fail "the export to $format is empty"
done
expect_code 2 export pipeline.sqlite --to chrome --range 900s:901s
[[ $(wc -l <err.txt) == 1 ]] || fail "not one line: $(cat err.txt)"
expect_code 2 export pipeline.sqlite --to csv --view 'op"; drop table op'
expect_code 0 export pipeline.sqlite --to csv --view v_edge
expect_code 0 export pipeline.sqlite --to dot --around 3

# A trace and itself: no regression. The same program with more work: one.
expect_code 0 diff pipeline.sqlite pipeline.sqlite
"$bin/streamscope" demo pipeline --iterations 40 --device sim -o longer.sqlite >/dev/null 2>&1 || fail "demo exited $?"
expect_code 1 diff pipeline.sqlite longer.sqlite
expect_code 0 diff pipeline.sqlite longer.sqlite --max-slowdown 1000
expect_code 0 diff pipeline.sqlite longer.sqlite --base-run longer.sqlite

# Known findings pass, new ones fail, budgets hold.
expect_code 1 check race.sqlite
expect_code 0 check race.sqlite --write-baseline baseline.json
expect_code 0 check race.sqlite --baseline baseline.json
expect_code 0 check pipeline.sqlite --baseline baseline.json
expect_code 2 check race.sqlite --baseline missing.json
printf 'critical-path <= 1 s\noverlap >= 10 %%\n' >budget.txt
expect_code 0 check pipeline.sqlite --budget budget.txt
printf 'critical-path <= 1 us\n' >budget.txt
expect_code 1 check pipeline.sqlite --budget budget.txt
printf 'speed <= 1\n' >budget.txt
expect_code 2 check pipeline.sqlite --budget budget.txt
for format in junit github markdown sarif; do
  expect_code 1 check race.sqlite --format $format
  [[ -s out.txt ]] || fail "check --format $format reports nothing"
done

# The questions that the documentation answers.
recipes=0
while IFS= read -r query; do
  expect_code 0 query pipeline.sqlite "$query"
  recipes=$((recipes + 1))
done < <(sed -n 's/^| .*? | `\(SELECT .*\)` |$/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../docs/ci.md")
((recipes == 10)) || fail "docs/ci.md has $recipes recipes"

# Two runs on one axis.
expect_code 0 merge pipeline.sqlite race.sqlite -o both.sqlite
[[ $(sql both.sqlite "select count(*) from op") == \
  $(($(sql pipeline.sqlite "select count(*) from op") + $(sql race.sqlite "select count(*) from op"))) ]] || fail "ops are lost"

# The program's arguments and environment stay here: no output contains them, unless requested.
CUDA_CANARY=secret-variable "$bin/streamscope" record -o own.sqlite -- "$worker" count 8 secret-argument >/dev/null 2>&1 || fail "record exited $?"
[[ $(grep -aoc 'secret-argument\|secret-variable' own.sqlite) != 0 ]] || fail "the recording does not hold what this test looks for"
for format in chrome chakra perfetto csv; do expect_code 0 export own.sqlite --to $format -o own.$format; done
for format in text json html markdown; do expect_code 0 report own.sqlite --format $format -o report.$format; done
for format in json junit sarif github; do
  "$bin/streamscope" check own.sqlite --format $format >check.$format 2>/dev/null || (($? == 1)) || fail "check --format $format exited $?"
done
expect_code 0 merge own.sqlite -o passed_on.sqlite
for file in own.chrome own.chakra own.perfetto own.csv report.* check.* passed_on.sqlite; do
  [[ -s $file ]] || fail "$file is empty"
  if grep -aq 'secret-argument\|secret-variable' "$file"; then fail "$file holds what the program was started with"; fi
done
[[ $(sql passed_on.sqlite "select count(*) from op") == "$(sql own.sqlite "select count(*) from op")" ]] || fail "ops are lost in the copy"
expect_code 0 merge own.sqlite -o kept.sqlite --no-redact
[[ $(sql kept.sqlite "select count(*) from string where value like '%secret-argument%' or value like '%secret-variable%'") == 2 ]] ||
  fail "merge --no-redact holds no command line"
for format in chrome perfetto; do
  expect_code 0 export own.sqlite --to $format --no-redact -o own.$format
  grep -aq secret-argument own.$format || fail "export --to $format --no-redact holds no command line"
done

expect_code 2 merge pipeline.sqlite race.sqlite -o pipeline.sqlite --force
echo "passed"
