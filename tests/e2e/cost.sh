#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# `streamscope cost`: a program runs in turns with and without recording. The driver is a stand-in.
source "$(dirname "$0")/lib.sh" "$1"

fake=$build/tests/fake
[[ -f $fake/libcuda.so.1 ]] || { echo "SKIPPED: built without the CUDA headers"; exit 77; }

# cost ARGUMENT...: standard output goes to out.txt, the rest to err.txt
cost() { LD_LIBRARY_PATH=$fake timeout -s KILL 100 "$bin/streamscope" cost "$@" >out.txt 2>err.txt; }
# expect_code CODE TEXT ARGUMENT...: TEXT is in what it says
expect_code() {
  local code=0
  cost "${@:3}" || code=$?
  [[ $code == "$1" ]] || fail "cost ${*:3}: exit code $code, expected $1: $(cat err.txt)"
  [[ $(cat err.txt) == *"$2"* ]] || fail "cost ${*:3}: $(cat err.txt)"
}

# Recording a call with its stack takes a tenth of the time between two calls, or more.
expect_code 0 "pair 6 of 6: " --tier structure --stacks all --samples 0 --json -- "$bin/tests/sampled" calls 1200000
python3 - out.txt <<'CHECK' || fail "$(cat out.txt err.txt)"
import json, sys
cost = json.load(open(sys.argv[1]))
assert cost["tier"] == "structure" and len(cost["pairs"]) == 6, cost
assert all(0.4 < pair["bare_s"] < pair["recorded_s"] for pair in cost["pairs"]), cost
assert 5 < cost["low"] <= cost["percent"] <= cost["high"], cost
CHECK
[[ $(ls) == "err.txt"$'\n'"out.txt" ]] || fail "something is left: $(ls)"

expect_code 0 "" --tier structure --samples 0 --quiet -- "$bin/tests/sampled" calls 1200000
[[ ! -s err.txt && $(cat out.txt) == "tier structure: recording cost "*" %, 6 pairs of runs)" ]] || fail "$(cat out.txt err.txt)"

expect_code 2 "no program is given"
expect_code 2 "ended with exit code 6" -- "$bin/tests/sampled" private
expect_code 2 "--with accesses" --with accesses -- "$bin/tests/sampled" calls 1200000
expect_code 3 "less than half a second" -- "$bin/tests/sampled" calls 10
expect_code 3 "less than half a second" -- /bin/true
expect_code 3 "ended ranges of that name" --range step -- "$bin/tests/sampled" calls 1200000
echo "ok"
