#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The program's own exit code and output pass through the launcher.
source "$(dirname "$0")/lib.sh" "$1"

# expect_code CODE COMMAND...
expect_code() {
  local expected=$1 code=0
  shift
  "$@" >out.txt 2>err.txt || code=$?
  [[ $code == "$expected" ]] || fail "exit code $code instead of $expected: $* ($(cat err.txt))"
}

expect_code 0 "$bin/streamscope" record -o zero.sqlite -- "$worker" count 8
expect_counts zero.sqlite out.txt
expect_code 7 "$bin/streamscope" record -o seven.sqlite -- "$worker" exit 8 7
expect_counts seven.sqlite out.txt
expect_complete seven.sqlite 1
[[ $(sql seven.sqlite 'select exit_code from process') == 7 ]] || fail "the trace does not know exit code 7"

expect_code 134 "$bin/streamscope" record -o abort.sqlite -- "$worker" abort 8
expect_counts abort.sqlite out.txt
expect_complete abort.sqlite 0
[[ $(sql abort.sqlite 'select exit_signal from process') == 6 ]] || fail "the trace does not know signal 6"

# A program that never touches CUDA behaves the same, and only it speaks on standard output.
expect_code 3 "$bin/streamscope" record -o none.sqlite -- sh -c 'cat; echo out; echo err >&2; exit 3' <<<"from stdin"
[[ $(cat out.txt) == $'from stdin\nout' ]] || fail "output changed: $(cat out.txt)"
grep -q '^err$' err.txt || fail "standard error changed: $(cat err.txt)"
