#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A preloaded library without the launcher: the helper writes the same trace, in the current folder, and ends.
source "$(dirname "$0")/lib.sh" "$1"

LD_PRELOAD=$inject "$worker" count 60 >out.json
finished() { compgen -G 'worker-*.sqlite' >/dev/null && ! compgen -G 'worker-*.sqlite?*' >/dev/null; }
wait_until 20 finished || fail "no finished trace; there is: $(ls)"
trace=$(ls worker-*.sqlite)
expect_counts "$trace" out.json
expect_complete "$trace" 1
expect_one_file "$trace"
rm "$trace"

# A process and its child still have one trace: the run begins with the first that uses a device.
LD_PRELOAD=$inject "$worker" spawn 40 >out.json
wait_until 20 finished || fail "no finished trace of two processes; there is: $(ls)"
trace=$(ls worker-*.sqlite)
expect_counts "$trace" out.json
[[ $(field info.json counts.process) == 2 ]] || fail "$(field info.json counts.process) processes instead of 2"
rm "$trace"

# Two that start at one moment and are given one name have a trace each.
for ((round = 0; round < 16; ++round)); do
  for name in a b; do
    LD_PRELOAD=$inject STREAMSCOPE_OUTPUT=two.sqlite "$worker" count 5 >$name.json 2>$name.txt &
  done
  wait
  two_names=$'^two-[0-9]+\\.sqlite\ntwo\\.sqlite$'
  both() { [[ $(ls two*) =~ $two_names ]]; }
  wait_until 20 both || fail "no two traces; there is: $(ls two*) $(cat a.txt b.txt)"
  for trace in two*.sqlite; do expect_counts "$trace" a.json; done
  rm two*
done
