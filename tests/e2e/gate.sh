#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The documented job of a build server on a sample: a planted regression is caught, a run that only varies is not.
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
source "$(dirname "$0")/lib.sh" "$1"

# expect_gate CODE OPTION... -- PROGRAM...
expect_gate() {
  local expected=$1 code=0
  shift
  "$bin/streamscope" gate -o job "$@" >gate.txt 2>&1 || code=$?
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
grep -q 'regression' gate.txt || fail "the output does not report it: $(cat gate.txt)"
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

# An exceeded budget, and one that is kept.
echo 'iteration <= 1 ns' >tight.txt
echo 'iteration <= 1 s' >loose.txt
expect_gate 1 --budget tight.txt -- "$pipeline" --device sim
expect_gate 0 --budget loose.txt -- "$pipeline" --device sim

# The action passes its inputs on; those with several values have one per line.
expect_action() {
  local code=0
  env ARCHIVE= STREAMSCOPE="$bin/streamscope" BASELINE= BUDGET= ITERATION= ASSERT= FAIL_ON=error BASE= BASE_RUN= MAX_SLOWDOWN=5 "${@:2}" \
    "$source_folder/.github/actions/streamscope/run.sh" >gate.txt 2>&1 || code=$?
  [[ $code == "$1" ]] || fail "the action with ${*:2}: exit code $code instead of $1: $(cat gate.txt)"
}
asserted=$'ordered("memcpy HtoD", "scale")\nlaunches_per_iteration <= 2\n'
expect_action 0 RUN="'$pipeline' --device sim" ASSERT="$asserted" BUDGET=loose.txt
expect_action 1 RUN="'$pipeline' --device sim" ASSERT="$asserted"'no_sync_in("iteration")'
expect_action 1 RUN="'$bin/examples/race' --device sim"
expect_action 0 RUN="'$bin/examples/race' --device sim" BASELINE=baseline.json
expect_action 1 RUN="'$pipeline' --device sim --iterations 40" BASE=base.sqlite BASE_RUN=base.sqlite

# Mistakes are reported before the program runs.
expect_gate 2 --no-such-option x -- touch ran
expect_gate 2 --budget missing.txt -- touch ran
expect_gate 2 --base-run base.sqlite -- touch ran
expect_gate 2 -o base.sqlite -- touch ran
[[ ! -e ran ]] || fail "the program ran"
expect_gate 2
expect_gate 2 --base missing.sqlite -- "$pipeline" --device sim
expect_gate 7 -- bash -c 'exit 7'
# A program without CUDA leaves nothing to check, and the trace of an earlier run does not stand in for it.
expect_gate 2 -- true
grep -q 'nothing was recorded' gate.txt || fail "no reason given: $(cat gate.txt)"
echo "passed"
