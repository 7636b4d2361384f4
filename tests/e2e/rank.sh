#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A rank of a job on the simulated device: its collectives are recorded by identity, and its summary says what it did
# between them.
source "$(dirname "$0")/lib.sh" "$1"

[[ -x $bin/tests/rank ]] || { echo "SKIPPED: built without the CUDA headers"; exit 77; }
"$bin/streamscope" record --quiet -o rank.sqlite -- "$bin/tests/rank" || fail "record exited $?"
got=$("$bin/tests/rank_check" rank.sqlite) || fail "no summary: $got"
expected='10 iterations
after -1: 80 us of kernels
all-reduce of 0xd0, 1048576 bytes, 40 us
after 0: 20 us of kernels'
[[ $got == "$expected" ]] || fail "the summary is: $got"
