#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A recording that is started and stopped from outside, while the program works: each part has all calls of its time and
# nothing else is left of it. STREAMSCOPE_CYCLES: how often (20; ./dev nightly: 1000).
cycles=${STREAMSCOPE_CYCLES:-20}
source "$(dirname "$0")/lib.sh" "$1"

# expect_part TRACE: complete, without losses, with all calls of a time: their numbers have no gap.
expect_part() {
  expect_complete "$1" 1
  # The first waits may refer to records of before.
  [[ -z $(sql "$1" "select group_concat(value) from loss join string on string.id = name_id where value != 'history-lost' or count > 100") ]] ||
    fail "$1 lacks something: $(sql "$1" 'select value, count from loss join string on string.id = name_id')"
  local calls gap
  calls=$(sql "$1" 'select count(*) from event_record')
  ((calls > 0)) || fail "$1 has no call"
  gap=$(sql "$1" "with n as (select call_number c from api_call union select call_number from event_record
    union select call_number from event_wait union select call_number from host_sync)
    select max(c) - min(c) + 1 - count(*) from n where c is not null")
  [[ $gap == 0 ]] || fail "$1: $gap calls are missing between the first and the last"
  [[ $(sql "$1" "select count(*) from stream join string on string.id = name_id where value in ('first', 'second')") == 2 ]] ||
    fail "$1 does not know the names that streams got before it"
  [[ $(sql "$1" 'pragma integrity_check') == ok ]] || fail "$1 is damaged"
}
goes_on() { local before; before=$(wc -l <w.txt); wait_until 20 eval "((\$(wc -l <w.txt) > $before + 100))" || fail "it stands: $(cat w.err)"; }
json() { "$bin/streamscope" status --pid "$target" --json >status.json || fail "status: $?"; field status.json "$1"; }
# begin_part TRACE: another recorder, whose first part is on
begin_part() {
  rm w.txt
  "$bin/streamscope" record --start-later -o "$1" -- "$worker" forever >w.txt 2>w.err &
  launcher=$!
  wait_until 30 eval '[[ $(wc -l 2>/dev/null <w.txt) -gt 100 ]]' || fail "it does not proceed: $(cat w.err)"
  target=$(head -1 w.txt)
  companions+=("$launcher" "$target")
  "$bin/streamscope" start --pid "$target" >/dev/null || fail "start: $?"
}
open_files() { find "/proc/$launcher/fd" -mindepth 1 2>/dev/null | wc -l; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$launcher/status"; }

"$bin/streamscope" record --start-later --control-port 0 -o w.sqlite -- "$worker" forever >w.txt 2>w.err &
launcher=$!
wait_until 30 eval '[[ $(wc -l 2>/dev/null <w.txt) -gt 1000 ]]' || fail "it does not proceed: $(cat w.err)"
target=$(head -1 w.txt)
companions+=("$launcher" "$target")
[[ $("$bin/streamscope" status --pid "$target") == "process $target: off; nothing was recorded yet" ]] ||
  fail "status: $("$bin/streamscope" status --pid "$target")"
[[ ! -e w.sqlite ]] || fail "a trace without a start"

# By the command.
part=$("$bin/streamscope" start --pid "$target") || fail "start: $?"
[[ $part == "$work/w-1.sqlite" ]] || fail "started $part"
goes_on
[[ $("$bin/streamscope" status --pid "$target") == "process $target: recording into $part for "* ]] || fail "it is not on"
code=0
"$bin/streamscope" start --pid "$target" >out.txt 2>err.txt || code=$?
[[ $code == 2 && $(cat err.txt) == *"is on already"* ]] || fail "started twice: $code: $(cat err.txt)"
"$bin/streamscope" hang --pid "$target" >hang.txt || fail "hang --pid: $?: $(cat hang.txt)"
stopped=$("$bin/streamscope" stop --pid "$target") || fail "stop: $?"
[[ $stopped == "$part" ]] || fail "stopped $stopped"
expect_part w-1.sqlite
for command in stop hang; do
  code=0
  "$bin/streamscope" $command --pid "$target" >out.txt 2>err.txt || code=$?
  [[ $code == 2 && $(wc -l <err.txt) == 1 && $(cat err.txt) == *" off"* ]] || fail "$command while off: $code: $(cat err.txt)"
done

# For a time.
[[ $("$bin/streamscope" start --pid "$target" --for 0.3) == "$work/w-2.sqlite" ]] || fail "start --for"
expect_part w-2.sqlite
length=$(sql w-2.sqlite "select (max(start_ns) - min(start_ns)) / 1000000 from event_record")
((length > 0)) || fail "0.3 s are $length ms"

# Over HTTP, by those who have the token.
port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\);.*|\1|p' w.err)
token=$(cat w.sqlite.rings/token)
[[ $(stat -c %a w.sqlite.rings/token w.sqlite.rings/socket w.sqlite.rings | tr '\n' ' ') == "600 600 700 " ]] || fail "modes: $(ls -la w.sqlite.rings)"
# expect_status CODE CURL_ARGUMENT...
expect_status() {
  local got
  got=$(curl -s -o body.txt -w '%{http_code}' --max-time 20 "${@:2}") || true
  [[ $got == "$1" ]] || fail "curl ${*:2}: $got, not $1: $(cat body.txt)"
}
here=http://127.0.0.1:$port
key="Authorization: Bearer $token"
expect_status 401 -X POST "$here/start_profile"
expect_status 401 -X POST -H 'Authorization: Bearer 0000' "$here/start_profile"
expect_status 403 -X POST -H "$key" -H 'Host: example.org' "$here/start_profile"
expect_status 403 -X POST -H "$key" -H 'Origin: http://example.org' "$here/start_profile"
expect_status 405 -H "$key" "$here/start_profile"
expect_status 400 -X POST -H "$key" "$here/start?seconds=-1"
expect_status 404 -X POST -H "$key" "$here/../../etc/passwd"
[[ $(json recording) == 0 ]] || fail "a refused request has started the recording"
expect_status 200 -X POST -H "$key" "$here/start_profile"
goes_on
expect_status 409 -X POST -H "$key" "$here/start"
expect_status 200 -X POST -H "$key" "$here/stop_profile"
[[ $(field body.txt trace) == "$work/w-3.sqlite" ]] || fail "stopped $(cat body.txt)"
expect_part w-3.sqlite
# The socket, by this user only.
expect_status 200 --unix-socket w.sqlite.rings/socket http://localhost/status
if ((EUID == 0)); then
  chmod 711 . w.sqlite.rings && chmod 666 w.sqlite.rings/socket
  other=$(setpriv --reuid 65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' --unix-socket w.sqlite.rings/socket http://localhost/status || true)
  [[ $other == 403 ]] || fail "another user got $other from the socket"
  chmod 700 . w.sqlite.rings && chmod 600 w.sqlite.rings/socket
fi
# The token is not in a trace.
[[ $(sql w-3.sqlite "select count(*) from string where value like '%$token%'") == 0 ]] || fail "the token is in the trace"

# Again and again.
files=$(find w.sqlite.rings -type f -o -type s | wc -l) descriptors=$(open_files) memory=$(resident)
for ((i = 4; i < 4 + cycles; ++i)); do
  "$bin/streamscope" start --pid "$target" >/dev/null || fail "start $i: $?"
  sleep 0.02
  "$bin/streamscope" stop --pid "$target" >/dev/null || fail "stop $i: $?"
  [[ -e w-$i.sqlite ]] || fail "no part $i"
  expect_part "w-$i.sqlite"
  ((i == 4)) || rm "w-$i.sqlite"
done
[[ $(find w.sqlite.rings -type f -o -type s | wc -l) == "$files" ]] || fail "files are left: $(ls w.sqlite.rings)"
(($(open_files) <= descriptors + 2)) || fail "descriptors: $descriptors before, $(open_files) after"
(($(resident) < memory + 65536)) || fail "the recorder grew from $memory to $(resident) KiB"
echo "$cycles cycles: recorder $memory -> $(resident) KiB, $(open_files) descriptors"

# The recorder is killed while it records: the next command finishes the part, which is named, and removes the rest.
"$bin/streamscope" start --pid "$target" >part.txt || fail "start: $?"
goes_on
kill -KILL "$launcher"
kill -KILL "$target"
wait "$launcher" 2>/dev/null || true
part=$(cat part.txt)
"$bin/streamscope" info "$part" >info.txt || fail "info of a part whose recorder was killed: $?"
[[ $(sql "$part" 'select count(*) from event_record') -gt 50 ]] || fail "the part of a killed recorder is lost"
[[ -z $(compgen -G '*.rings') ]] || fail "left behind: $(ls)"

# The program ends while somebody waits for an answer: he gets one.
begin_part a.sqlite
kill -STOP "$target"  # so that the stop is not answered
timeout 60 "$bin/streamscope" stop --pid "$target" >out.txt 2>err.txt &
waiting=$!
sleep 0.5
kill -KILL "$target"
code=0
wait "$waiting" || code=$?
((code != 124)) || fail "a stop was never answered"
wait_until 20 eval '! kill -0 $launcher 2>/dev/null' || fail "the recorder does not end"

# It ends with the program: a part that is on is finished, and without one there is none.
begin_part e.sqlite
goes_on
kill -KILL "$target"
wait "$launcher" || true
grep -q 'wrote e-1.sqlite' w.err || fail "$(cat w.err)"
[[ $(sql e-1.sqlite 'select count(*) from event_record') -gt 50 ]] || fail "the last part is empty"
[[ -z $(compgen -G 'e.sqlite*') && -z $(compgen -G '*.rings') ]] || fail "left behind: $(ls)"
"$bin/streamscope" record --start-later -o n.sqlite -- "$worker" count 10 >out.txt 2>err.txt || fail "record: $?"
grep -q 'was never started' err.txt || fail "$(cat err.txt)"
[[ -z $(compgen -G 'n*.sqlite*') ]] || fail "left behind: $(ls)"

# A program that starts its own recorder.
if [[ -e $inject ]]; then
  rm w.txt
  STREAMSCOPE_START_LATER=1 STREAMSCOPE_OUTPUT=d.sqlite STREAMSCOPE_BIN=$bin/streamscope LD_PRELOAD=$inject \
    "$worker" forever >w.txt 2>w.err &
  target=$!
  companions+=("$target")
  wait_until 30 eval '[[ $(wc -l 2>/dev/null <w.txt) -gt 100 ]]' || fail "it does not proceed: $(cat w.err)"
  [[ $("$bin/streamscope" start --pid "$target" --for 0.2) == "$work/d-1.sqlite" ]] || fail "start: $(cat w.err)"
  expect_part d-1.sqlite
  kill -KILL "$target"
  wait "$target" 2>/dev/null || true
  wait_until 20 eval '[[ -z $(compgen -G "*.rings") ]]' || fail "left behind: $(ls)"
fi

# What cannot be combined is refused in one line.
for option in '--delay 1' '--capture-range cudaProfilerApi' '--flight-recorder 1' '--run r' '--tier events' '--measure-cost'; do
  code=0
  # shellcheck disable=SC2086  # an option and its value
  "$bin/streamscope" record --start-later $option -- true >out.txt 2>err.txt || code=$?
  [[ $code == 2 && $(wc -l <err.txt) == 1 ]] || fail "$option: $code: $(cat err.txt)"
done
expect_nobody
