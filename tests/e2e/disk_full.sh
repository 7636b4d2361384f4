#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A disk that fills up harms neither the program nor earlier files, and is reported in one line. A limit on the size
# of files simulates the disk, for the recorder alone, not for the program.
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

# The program's own exit code is passed on; if that is success, the missing trace counts.
for code in 7 0; do
  expected=$((code ? code : 2))
  expect $expected "exit code $code" limited 400 "$bin/streamscope" record -o "full$code.sqlite" -- \
    "${unlimited[@]}" "$worker" exit 30000 $code
  [[ $(field out.txt launches) == 60000 ]] || fail "the program was disturbed: $(cat out.txt)"
  grep -qE "full$code\.sqlite(\.rings/held-[01])?: cannot be written" err.txt || fail "no file is named: $(cat err.txt)"
  # What reached the disk is not lost, and what is lost is reported.
  "$bin/streamscope" info --json "full$code.sqlite" >info.json 2>/dev/null || fail "info exited $?"
  (($(field info.json counts.op) > 0)) || fail "nothing was kept"
  [[ $(field info.json complete) == 0 ]] || fail "a trace with a gap is called complete"
  expect_one_file "full$code.sqlite"
done

# No space for a single ring: refused before the program runs. The small disk is ours alone and goes with the shell.
mkdir small
if unshare -rm mount -t tmpfs none small 2>/dev/null; then
  expect 2 "is full" unshare -rm sh -c 'mount -t tmpfs -o size=1m none small && exec "$0" "$@"' \
    "$bin/streamscope" record -o small/t.sqlite -- touch ran
  [[ ! -e ran ]] || fail "it ran"
fi

# Space for the rows in the log but not in the trace, as at the end of a recording: reported, and completed once there is space.
cat >full_at_the_end.sh <<'END'
mount -t tmpfs -o size=16m none small
free() { df --output=avail -k small | tail -1; }
export -f free
code=0
STREAMSCOPE_RING_RECORDS=16384 "$1" record --hang-timeout 0 -o small/t.sqlite -- bash -c \
  '"$1" count 2000; sleep 1; head -c $((($(free) - 400) * 1024)) /dev/zero >small/fill' bash "$2" >full.json 2>full.err || code=$?
echo "code $code, left: $(ls small | tr '\n' ' ')"
"$1" info --json small/t.sqlite >before.json 2>before.err || echo "info failed: $(cat before.err)"
rm small/fill
"$1" info --json small/t.sqlite >after.json
echo "then: $(ls small | tr '\n' ' ')"
END
if unshare -rm mount -t tmpfs none small 2>/dev/null; then
  unshare -rm bash full_at_the_end.sh "$bin/streamscope" "$worker" >full.txt
  grep -q '^code 2, left: fill t.sqlite t.sqlite-shm t.sqlite-wal t.sqlite.rings' full.txt || fail "a full disk is not reported: $(cat full.txt)"
  [[ $(grep -c . full.err) == 1 ]] && grep -q 'the disk is full.*streamscope info' full.err || fail "not one line with the remedy: $(cat full.err)"
  grep -q '^then: t.sqlite $' full.txt || fail "it is not made good: $(cat full.txt)"
  [[ $(field after.json counts.event_record) == $(field full.json records) ]] || fail "records are missing: $(cat after.json)"
fi

# What is refused for lack of permission is not put down to lack of space.
mkdir closed
if unshare -rm sh -c 'mount --bind closed closed && mount -o remount,ro,bind closed' 2>/dev/null; then
  expect 2 "permissions" unshare -rm sh -c 'mount --bind closed closed && mount -o remount,ro,bind closed && exec "$0" "$@"' \
    "$bin/streamscope" record -o closed/t.sqlite -- touch ran
  ! grep -qi 'free ' err.txt || fail "wrong advice: $(cat err.txt)"
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
