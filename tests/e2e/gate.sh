#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The documented job of a build server on a sample: a planted regression is caught, a run that only varies is not.
source "$(dirname "$0")/lib.sh" "$1"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export STREAMSCOPE=$bin/streamscope

# expect_gate CODE OPTION... -- PROGRAM...
expect_gate() {
  local expected=$1 code=0
  shift
  "$here/.ci/gate" --out job "$@" >gate.txt 2>&1 || code=$?
  [[ $code == "$expected" ]] || fail "gate $*: exit code $code instead of $expected: $(cat gate.txt)"
}

pipeline=$bin/examples/pipeline
expect_gate 0 -- "$pipeline" --device sim
for file in trace.sqlite report.html summary.md junit.xml check.sarif; do
  [[ -s job/$file ]] || fail "the job left no $file"
done
cp job/trace.sqlite base.sqlite

# The same program again: nothing. Twice the work: a regression.
expect_gate 0 --base base.sqlite -- "$pipeline" --device sim
expect_gate 1 --base base.sqlite --max-slowdown 20 -- "$pipeline" --device sim --iterations 40
grep -q 'regression' job/summary.md || fail "the summary does not report it: $(cat job/summary.md)"
# Not slower than the base has been itself: nothing.
cp job/trace.sqlite slow.sqlite
expect_gate 0 --base base.sqlite --base-run slow.sqlite --max-slowdown 20 -- "$pipeline" --device sim --iterations 40

# A newly introduced race, and the baseline that accepts it.
expect_gate 1 -- "$bin/examples/race" --device sim
grep -q '<failure' job/junit.xml || fail "no failure in $(cat job/junit.xml)"
"$bin/streamscope" check job/trace.sqlite --quiet --write-baseline baseline.json
expect_gate 0 --baseline baseline.json -- "$bin/examples/race" --device sim

# What must be true of the program: its pipeline, and that the host never blocks.
expect_gate 0 --assert 'may_overlap_across("memcpy HtoD", "memcpy DtoH")' --assert 'ordered("memcpy HtoD", "scale")' -- \
  "$pipeline" --device sim
expect_gate 1 --assert 'no_sync_in("iteration")' -- "$pipeline" --device sim
expect_gate 3 --assert 'may_overlap("no such kernel", "scale")' -- "$pipeline" --device sim
expect_gate 2 --assert 'may_overlap("memcpy*")' -- "$pipeline" --device sim

# On GitHub the findings are annotations, and the job has a summary.
touch step.md
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$PWD/step.md expect_gate 1 -- "$bin/examples/race" --device sim
grep -q '^::error ' gate.txt || fail "no annotation: $(cat gate.txt)"
[[ -s step.md ]] || fail "no summary"

expect_gate 2 --no-such-option x -- true
expect_gate 2 --budget missing.txt -- "$pipeline" --device sim
expect_gate 7 -- bash -c 'exit 7'
echo "passed"
