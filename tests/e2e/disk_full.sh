#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A disk that fills up harms neither the program nor what was there before, and is told in one line. A limit on the size
# of files stands in for the disk, of the recorder alone, not of the program.
source "$(dirname "$0")/lib.sh" "$1"

# limited KIB COMMAND...: it may write no larger file
limited() {
  local kib=$1
  shift
  (ulimit -S -f "$kib" && exec "$@")
}

# expect CODE WORDS COMMAND...: exit code, and one line on standard error, with WORDS
expect() {
  local expected=$1 words=$2 code=0
  shift 2
  "$@" >out.txt 2>err.txt || code=$?
  [[ $code == "$expected" ]] || fail "exit code $code instead of $expected: $* ($(cat err.txt))"
  [[ $(grep -c . err.txt) == 1 ]] || fail "not one line: $* ($(cat err.txt))"
  grep -qF -- "$words" err.txt || fail "'$words' is not in: $(cat err.txt)"
}

unlimited=(sh -c 'ulimit -S -f unlimited; exec "$0" "$@"')

# The program's own exit code is passed on; where that says success, the missing trace counts.
for code in 7 0; do
  expected=$((code ? code : 2))
  expect $expected "exit code $code" limited 400 "$bin/streamscope" record -o "full$code.sqlite" -- \
    "${unlimited[@]}" "$worker" exit 30000 $code
  [[ $(field out.txt launches) == 60000 ]] || fail "the program was disturbed: $(cat out.txt)"
  grep -qF "full$code.sqlite: cannot be written" err.txt || fail "no file is named: $(cat err.txt)"
  # What reached the disk is not lost, and what is lost is said.
  "$bin/streamscope" info --json "full$code.sqlite" >info.json 2>/dev/null || fail "info exited $?"
  (($(field info.json counts.op) > 0)) || fail "nothing was kept"
  [[ $(field info.json complete) == 0 ]] || fail "a trace with a gap is called complete"
  expect_one_file "full$code.sqlite"
done

# No room for a single ring: refused before the program runs. The small disk is ours alone and goes with the shell.
mkdir small
if unshare -rm mount -t tmpfs none small 2>/dev/null; then
  expect 2 "is full" unshare -rm sh -c 'mount -t tmpfs -o size=1m none small && exec "$0" "$@"' \
    "$bin/streamscope" record -o small/t.sqlite -- touch ran
  [[ ! -e ran ]] || fail "it ran"
fi

# Output that cannot be written.
"$bin/streamscope" record --quiet -o t.sqlite -- "$worker" count 2000 >/dev/null
cp t.sqlite before.sqlite
for command in 'info t.sqlite' 'report t.sqlite' 'report t.sqlite --format json' 'query t.sqlite select(1)' doctor help; do
  # shellcheck disable=SC2086  # split into words on purpose
  expect 2 "standard output" sh -c '"$0" "$@" >/dev/full' "$bin/streamscope" $command
done
expect 2 "standard output" sh -c '"$0" "$@" >/dev/full' "$bin/streamscope" query t.sqlite 'select * from api_call'
expect 2 /dev/full "$bin/streamscope" report t.sqlite -o /dev/full
if [[ -x $bin/streamscope-viewer ]]; then
  expect 2 /dev/full "$bin/streamscope" view t.sqlite --screenshot /dev/full
fi
expect 2 t.sqlite limited 1 "$bin/streamscope" analyze t.sqlite
"$bin/streamscope" info t.sqlite >/dev/null || fail "a failed analyze broke the trace"
[[ $(sql t.sqlite 'select count(*) from edge') == $(sql before.sqlite 'select count(*) from edge') ]] || fail "half of an analysis was stored"
