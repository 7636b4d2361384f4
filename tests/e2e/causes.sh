#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Random programs: why each operation started late is what the simulated device knows, and the tables of the recordings
# agree with themselves. STREAMSCOPE_CAUSES_PROGRAMS: how many (default 400).
count=${STREAMSCOPE_CAUSES_PROGRAMS:-400}
here=$(cd "$(dirname "$0")" && pwd)
source "$here/lib.sh" "$1"

batch=100  # each batch has its own kind of device
for ((first = 0; first < count; first += batch)); do
  "$bin/streamscope" record --quiet --force -o causes.sqlite -- "$bin/tests/causes" "$batch" "$first" truth.txt \
    2>causes.err || fail "$(cat causes.err)"
  "$bin/tests/causes_check" causes.sqlite truth.txt || fail "analysis and device disagree on programs from $first"
  python3 "$here/../causes/check_causes.py" "$bin/streamscope" causes.sqlite || fail "the tables disagree"
done
