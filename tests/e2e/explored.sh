#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Random programs: what the detectors find in a recording is what exploring all orders finds.
# STREAMSCOPE_EXPLORED_PROGRAMS: how many (default 200).
count=${STREAMSCOPE_EXPLORED_PROGRAMS:-200}
source "$(dirname "$0")/lib.sh" "$1"

batch=200  # each program has its own device, and the order of so many streams is expensive
for ((first = 0; first < count; first += batch)); do
  ((batch <= count - first)) || batch=$((count - first))
  "$bin/streamscope" record --quiet --force -o explored.sqlite -- "$bin/tests/explored" "$batch" "$first" \
    >explored.txt 2>explored.err || fail "$(cat explored.err)"
  "$bin/tests/explored_check" explored.sqlite explored.txt || fail "detectors and exploration disagree"
done
