#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Each demo of libcoord, simulated, says what it did; its trace says the same.
source "$(dirname "$0")/lib.sh" "$1"

examples=("$bin"/examples/*)
((${#examples[@]})) || fail "no examples"
for example in "${examples[@]}"; do
  [[ -x $example && ! -d $example ]] || continue
  name=$(basename "$example")
  expected=0
  [[ $name != deadlock ]] || expected=3  # it hangs, and libcoord says so
  code=0
  "$bin/streamscope" record -o "$name.sqlite" -- "$example" --device sim >"$name.txt" 2>"$name.err" || code=$?
  [[ $code == "$expected" ]] || fail "$name: exit code $code instead of $expected: $(cat "$name.err")"
  grep '^{' "$name.txt" | tail -1 >"$name.json"
  expect_counts "$name.sqlite" "$name.json"
  expect_complete "$name.sqlite" 1
  expect_one_file "$name.sqlite"
done
