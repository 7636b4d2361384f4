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

# A job of two of them.
for rank in 0 1; do
  RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank STREAMSCOPE_JOB=two "$bin/streamscope" record --quiet --run job -- "$bin/tests/rank" ||
    fail "record exited $?"
done
"$bin/streamscope" report --quiet job >report.txt || fail "report of a folder exited $?"
grep -q '^2 ranks on 1 host: .* an iteration (10 iterations)' report.txt || fail "$(cat report.txt)"
grep -q 'No rank holds the others up' report.txt || fail "$(cat report.txt)"
[[ -s job/rank-00000.summary && -s job/rank-00001.summary ]] || fail "no summaries: $(ls job)"
"$bin/streamscope" report --quiet job | cmp - report.txt || fail "a report from summaries differs"
for format in markdown html json; do
  "$bin/streamscope" report --quiet job --format $format -o job.$format || fail "report --format $format exited $?"
done
"$bin/streamscope" report --quiet job --what-if graph 2>said && fail "a what-if of a job was accepted"
"$bin/streamscope" hang --quiet job >hang.txt || fail "hang of a folder exited $?: $(cat hang.txt)"
# Other commands take the folder as they take a trace.
echo 'largest-delay <= 0 %' >limits.txt
"$bin/streamscope" check --quiet job --fail-on warning --budget limits.txt >check.txt || fail "check of a folder exited $?: $(cat check.txt)"
"$bin/streamscope" diff --quiet job job >diff.txt || fail "diff of folders exited $?: $(cat diff.txt)"
grep -q 'no regression' diff.txt || fail "$(cat diff.txt)"
grep -q '^2 ranks of 2 on 1 host' <<<"$("$bin/streamscope" info job)" || fail "info: $("$bin/streamscope" info job)"
"$bin/streamscope" export --quiet job --to perfetto -o job.pftrace || fail "export of a folder exited $?"
for rank in 0 1; do grep -aq "rank $rank (" job.pftrace || fail "rank $rank is not in the export"; done
"$bin/streamscope" export --quiet job --to chakra -o job || fail "export of each rank exited $?"
for rank in 0 1; do
  "$bin/streamscope" export --quiet job/"rank-0000$rank.sqlite" --to chakra -o alone.et || fail "export of rank $rank exited $?"
  cmp -s "job.$rank.et" alone.et || fail "the export of rank $rank differs from that of its trace"
done
! "$bin/streamscope" export --quiet job --to chakra >err.txt 2>&1 || fail "chakra of a folder without a file name"
grep -q "has a file for each rank" err.txt || fail "chakra of a folder said: $(cat err.txt)"
"$bin/streamscope" merge --quiet job -o merged.sqlite || fail "merge of a folder exited $?"
[[ $(sql merged.sqlite "select count(distinct rank) from process") == 2 ]] || fail "a merged folder lacks a rank"
# The summaries of a run are made by any number of processes.
rm job/*.summary
"$bin/streamscope" analyze --quiet job || fail "analyze of a folder exited $?"
"$bin/streamscope" report --quiet job | cmp - report.txt || fail "a report after analyze differs"
if command -v mpirun >/dev/null; then
  for count in 1 2 4; do
    rm job/*.summary
    mpirun --allow-run-as-root --oversubscribe -n $count "$bin/streamscope" analyze job >made.txt || fail "mpirun exits $?"
    [[ $(grep -c made made.txt) == "$count" && $(ls job/*.summary | wc -l) == 2 ]] || fail "$count processes: $(cat made.txt)"
    "$bin/streamscope" report --quiet job | cmp - report.txt || fail "a report after $count processes differs"
  done
fi
rm job/rank-00001.*
grep -q 'rank 1 of 2 has no trace' <<<"$("$bin/streamscope" report --quiet job)" || fail "a missing rank is not named"
"$bin/streamscope" check --quiet job >check.txt && fail "a missing rank passed the check"
grep -q 'SS403 incomplete-run' check.txt || fail "$(cat check.txt)"
expect_nobody
