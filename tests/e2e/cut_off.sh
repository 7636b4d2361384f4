#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Files of a recording that are truncated while in use cost records, which is reported, and crash nothing.
source "$(dirname "$0")/lib.sh" "$1"

for file in ring control; do
  for way in launcher library; do
    rm -rf t.sqlite*
    : >steps.txt
    if [[ $way == launcher ]]; then
      "$bin/streamscope" record -o t.sqlite -- "$worker" forever >steps.txt 2>err.txt &
    else
      LD_PRELOAD=$inject STREAMSCOPE_BIN=$bin/streamscope STREAMSCOPE_OUTPUT=$work/t.sqlite "$worker" forever >steps.txt 2>err.txt &
    fi
    started=$!
    wait_until 20 eval '[[ $(wc -l <steps.txt) -gt 200 ]]' || fail "$file, $way: the program does not proceed: $(cat err.txt)"
    program=$(head -1 steps.txt)
    if [[ $file == ring ]]; then truncate -s 0 t.sqlite.rings/*.ring; else truncate -s 0 t.sqlite.rings/control; fi
    # shellcheck disable=SC2034  # read by eval
    before=$(wc -l <steps.txt)
    wait_until 20 eval '[[ $(wc -l <steps.txt) -gt $((before + 500)) ]]' || fail "$file, $way: the program makes no progress or has ended: $(cat err.txt)"
    kill "$program"
    code=0
    wait $started || code=$?
    [[ $code == 143 ]] || fail "$file, $way: exit code $code: $(cat err.txt)"
    wait_until 20 eval '! compgen -G "t.sqlite?*" >/dev/null' || true
    grep -q 'streamscope: records are missing' err.txt || fail "$file, $way: nothing is reported: $(cat err.txt)"
    "$bin/streamscope" info --json t.sqlite >info.json 2>info.err || fail "$file, $way: info exited $?: $(cat info.err)"
    [[ $(field info.json complete) == 0 && -n $(field info.json 'losses[0].name') ]] || fail "$file, $way: no loss: $(cat info.json)"
  done
done

# What a killed recorder left, cut off anywhere.
for bytes in 0 1 100 4096 5000 20000; do
  rm -rf t.sqlite*
  : >steps.txt
  "$bin/streamscope" record -o t.sqlite -- "$worker" forever >steps.txt 2>err.txt &
  recorder=$!
  wait_until 20 eval '[[ $(wc -l <steps.txt) -gt 100 ]]' || fail "the program does not proceed"
  kill -9 "$recorder" "$(head -1 steps.txt)"
  wait $recorder || true
  truncate -s "$bytes" t.sqlite.rings/*.ring
  code=0
  "$bin/streamscope" info t.sqlite >out.txt 2>err.txt || code=$?
  [[ $code == 0 || $code == 2 ]] || fail "info of a ring of $bytes bytes exited $code: $(cat err.txt)"
done
