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

# The program waits 2 ms between two calls, and 5 ms where it is recorded: +150 %, less where every wait is longer.
expect_code 0 "pair 6 of 6: " --tier structure --stacks all --samples 0 --json -- "$bin/tests/sampled" paced 350
python3 - out.txt <<'CHECK' || fail "$(cat out.txt err.txt)"
import json, sys
cost = json.load(open(sys.argv[1]))
assert cost["tier"] == "structure" and len(cost["pairs"]) == 6, cost
assert all(pair["bare_s"] > 0.6 and pair["recorded_s"] > 1.5 for pair in cost["pairs"]), cost
assert cost["low"] <= cost["percent"] <= cost["high"] and 50 < cost["percent"] < 400, cost
CHECK
[[ $(ls) == "err.txt"$'\n'"out.txt" ]] || fail "something is left: $(ls)"

expect_code 0 "" --tier structure --samples 0 --quiet -- "$bin/tests/sampled" paced 350
[[ ! -s err.txt && $(cat out.txt) == "tier structure: recording cost "*" %, 6 pairs of runs)" ]] || fail "$(cat out.txt err.txt)"

expect_code 2 "no program is given"
expect_code 2 "ended with exit code 6" -- "$bin/tests/sampled" private
expect_code 2 "--with accesses" --with accesses -- "$bin/tests/sampled" calls 1200000
expect_code 3 "less than half a second" -- "$bin/tests/sampled" calls 10
expect_code 3 "less than half a second" -- /bin/true
expect_code 3 "ended ranges of that name" --range step -- "$bin/tests/sampled" calls 1200000
echo "ok"
