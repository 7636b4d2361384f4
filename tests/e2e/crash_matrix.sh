#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Every way to end at every stage of a recording (tests/collect/crash_scenarios.cpp): each leaves a trace that can be
# read, with every call that had returned, losses for what is missing, no ring and no process. The recorder may end as
# well, its disk be full, and a ring that nobody drained be torn.
source "$(dirname "$0")/lib.sh" "$1"

child=$bin/tests/collect_child
[[ -x $child ]] || { echo "SKIPPED: built without the CUDA headers"; exit 0; }

code_of() {
  case $1 in
    return | device-reset) echo 0 ;;
    exit | _exit | sticky-error) echo 7 ;;
    abort) echo 134 ;;
    kill) echo 137 ;;
    terminate) echo 143 ;;
    fault) echo 139 ;;
  esac
}

# cell HOW WHEN
cell() {
  local name=$1-$2 code=0 said got complete
  "$bin/streamscope" record -o "$name.sqlite" -- "$child" crash "$1" "$2" >"$name.out" 2>"$name.err" || code=$?
  [[ $code == "$(code_of "$1")" ]] || fail "$name: exit code $code: $(cat "$name.err")"
  said=$(sed -n 's/^calls //p' "$name.out" | tail -1)
  if [[ ! -f $name.sqlite ]]; then
    # Nothing of CUDA was used, or only what makes no call.
    [[ $2 == before-cuda && $said == 0 ]] || fail "$name: no trace"
    return 0
  fi
  [[ $(sql "$name.sqlite" 'pragma integrity_check') == ok ]] || fail "$name is damaged"
  "$bin/streamscope" info --json "$name.sqlite" >"$name.json" || fail "$name: info failed"
  got=$(calls "$name.sqlite")
  ((got >= said)) || fail "$name has $got calls of $said"
  complete=$(field "$name.json" complete)
  case $1 in
    _exit | abort | kill | terminate | fault)
      [[ $complete == 0 ]] || fail "$name calls itself complete"
      [[ $1 == _exit ]] && said="exit-handlers-skipped" || said="process-ended-abruptly"
      [[ $(sql "$name.sqlite" "select count(*) from loss join string on string.id = name_id
        where value = '$said'") == 1 ]] || fail "$name does not report how it ended" ;;
    *) [[ $complete == 1 ]] || fail "$name is not complete" ;;
  esac
  # Times are there, or their loss is counted.
  got=$(sql "$name.sqlite" "select (select count(*) from op where end_ns is null) <= (select total(count) from loss
    join string on string.id = name_id where value in ('times-not-delivered', 'ring-full'))")
  [[ $got == 1 ]] || fail "$name: work without times is not counted as loss"
  # Inside of a call its own calls are not traced.
  [[ $1 != sticky-error || $2 == before-cuda || $2 == inside-a-call ]] || [[ $(sql "$name.sqlite" 'select count(*) from host_sync where result = 700') == 3 ]] ||
    fail "$name: the error of CUDA is not there"
  expect_one_file "$name.sqlite"
}

# calls TRACE: those that returned
calls() {
  sql "$1" 'select (select count(*) from api_call where end_ns not null) + (select count(*) from event_record
    where end_ns not null) + (select count(*) from event_wait where end_ns not null)'
}

# The program stays at its stage; then it and its recorder are killed, and DAMAGE is done to what they leave.
# abandoned WHEN DAMAGE
abandoned() {
  local name=linger-$1-$2 launcher target said ring got limit=unlimited
  [[ $2 != full-disk ]] || limit=100  # KiB: no trace fits, so it has to wait in the rings
  (ulimit -S -f $limit && exec "$bin/streamscope" record --hang-timeout 0 -o "$name.sqlite" -- \
    sh -c 'ulimit -S -f unlimited; exec "$0" "$@"' "$child" crash linger "$1") >"$name.out" 2>"$name.err" &
  launcher=$!
  wait_until 30 grep -qs '^calls ' "$name.out" || fail "$name does not come to its stage: $(cat "$name.err")"
  target=$(pgrep -P "$launcher")
  kill -KILL "$launcher" "$target"
  wait "$launcher" 2>/dev/null || true
  wait_until 10 eval '! kill -0 "$target" 2>/dev/null' || fail "$name: the program does not end"
  said=$(sed -n 's/^calls //p' "$name.out" | tail -1)
  if [[ $1 == before-cuda ]]; then
    rm -rf "$name".sqlite*  # the folder that the recorder had made, with nothing in it
    return 0
  fi
  # One that was made: another may have been in the making when the program was killed.
  ring=$(grep -la -m1 '^SSRING' "$name.sqlite.rings"/*.ring | head -1) || true
  [[ -n $ring ]] || fail "$name left no ring"
  case $2 in
    torn) truncate -s 5000 "$ring" ;;
    overwritten) for ring in "$name.sqlite.rings"/*.ring; do
      dd if=/dev/urandom of="$ring" bs=64 seek=80 count=40 conv=notrunc status=none
    done ;;
  esac
  "$bin/streamscope" info --json "$name.sqlite" >"$name.json" 2>"$name.err" || fail "$name: info: $(cat "$name.err")"
  [[ $(sql "$name.sqlite" 'pragma integrity_check') == ok ]] || fail "$name is damaged"
  [[ $(field "$name.json" complete) == 0 ]] || fail "$name calls itself complete"
  if [[ $2 == torn ]]; then
    [[ $(sql "$name.sqlite" "select count(*) from loss join string on string.id = name_id where value = 'ring-torn'") == 1 ]] ||
      fail "$name does not report that a ring was torn"
  elif [[ $2 == none ]]; then  # a recorder whose disk is full makes the program stop recording
    got=$(calls "$name.sqlite")
    ((got >= said)) || fail "$name has $got calls of $said"
  fi
  expect_one_file "$name.sqlite"
}

cells=0
running=()
finish() {
  local pid
  for pid in "${running[@]}"; do wait "$pid" || exit 1; done
  running=()
}
start() {
  "$@" &
  running+=($!)
  cells=$((cells + 1))
  if ((${#running[@]} == 8)); then finish; fi
}
while read -r how when; do
  if [[ $how == linger ]]; then
    for damage in none full-disk torn overwritten; do start abandoned "$when" $damage; done
  else
    start cell "$how" "$when"
  fi
done < <("$child" crash --list)
finish
((cells >= 80)) || fail "only $cells cells"
[[ -z $(compgen -G '*.rings') ]] || fail "left behind: $(ls -d ./*.rings)"
expect_nobody
echo "$cells cells"
