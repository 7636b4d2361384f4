#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Jobs of four ranks that hang: each rank's recorder names the rank that keeps the job from going on, within 5 s of the last
# progress and with the options' defaults, and so does `streamscope hang DIR` from notes of at most 4 KiB. The driver and CUPTI
# are stand-ins (tests/collect/job_scenarios.cpp).
source "$(dirname "$0")/lib.sh" "$1"
for variable in RANK WORLD_SIZE LOCAL_RANK TORCHELASTIC_RESTART_COUNT "${!OMPI_@}" "${!PMI@}" "${!SLURM_@}"; do unset "$variable"; done

child=$bin/tests/collect_child
[[ -x $child ]] || { echo "SKIPPED: built without the CUDA headers"; exit 77; }
ranks=4
recorders=()
trap 'end; rm -rf "$work"' EXIT

# Puts rank 2 of the next job on a host of another name, where that is allowed.
elsewhere=()
unshare --uts true 2>/dev/null && other_host=(unshare --uts sh -c 'hostname node7 && exec "$@"' sh) || other_host=()

# begin NAME FAULT RANK: starts the job, with messages of rank N in NAME.N.err
begin() {
  local rank place
  mkdir "$1.barrier"
  recorders=()
  for ((rank = 0; rank < ranks; ++rank)); do
    place=()
    ((rank != 2)) || place=("${elsewhere[@]}")
    RANK=$rank WORLD_SIZE=$ranks LOCAL_RANK=$rank STREAMSCOPE_JOB=$1 "${place[@]}" \
      "$bin/streamscope" record --run "$1" -- "$child" job "$1.barrier" "$2" "$3" >/dev/null 2>"$1.$rank.err" &
    recorders+=($!)
  done
}

programs_of() { pgrep -P "$1" || true; }

# end: kills the programs of the job; their recorders finish
end() {
  local recorder program
  for recorder in "${recorders[@]}"; do
    for program in $(programs_of "$recorder"); do kill -KILL "$program" 2>/dev/null || true; done
  done
  for recorder in "${recorders[@]}"; do wait "$recorder" 2>/dev/null || true; done
}

modified_ms() { stat -c %.3Y "$1" | tr -d .; }

# says NAME RANK...: each of these recorders has printed a verdict
says() {
  local name=$1 rank
  shift
  for rank in "$@"; do grep -q '^streamscope: the job ' "$name.$rank.err" || return 1; done
}

# hangs NAME FAULT CULPRIT PATTERN RANK...: rank CULPRIT does something wrong, and recorders RANK... print PATTERN in time
hangs() {
  local name=$1 fault=$2 culprit=$3 pattern=$4 rank last=0 late=0 at code=0 size largest=0 began
  shift 4
  begin "$name" "$fault" "$culprit"
  wait_until 20 says "$name" "$@" || fail "$name: no verdict: $(tail -n +1 "$name".*.err)"
  for ((rank = 0; rank < ranks; ++rank)); do
    at=$(modified_ms "$name.barrier/progress.$rank")
    ((at > last)) && last=$at
  done
  for rank in "$@"; do
    at=$(modified_ms "$name.$rank.err")
    ((at > late)) && late=$at
    grep '^streamscope: the job ' "$name.$rank.err" | grep -Eq "$pattern" || fail "$name: rank $rank says $(cat "$name.$rank.err")"
    [[ $(grep -c '^streamscope: the job ' "$name.$rank.err") == 1 ]] || fail "$name: rank $rank repeats itself: $(cat "$name.$rank.err")"
  done
  ((late - last <= 5000)) || fail "$name: verdict after $((late - last)) ms"
  began=$(date +%s%N)
  "$bin/streamscope" hang "$name" >"$name.hang" || code=$?
  began=$((($(date +%s%N) - began) / 1000000))
  [[ $code == 1 ]] && head -1 "$name.hang" | grep -Eq "$pattern" || fail "hang $name exits $code: $(cat "$name.hang")"
  for rank in $name/*.hang; do
    size=$(stat -c %s "$rank")
    ((size > largest)) && largest=$size
  done
  [[ $(ls "$name"/*.hang | wc -l) -ge $((ranks - 1)) ]] || fail "$name: the notes are $(ls "$name")"
  ((largest <= 4096)) || fail "$name: a note of $largest bytes"
  echo "$name: $((late - last)) ms after the last progress, hang DIR in $began ms, notes of at most $largest bytes: $(head -1 "$name.hang")"
  end
  code=0
  "$bin/streamscope" hang "$name" >"$name.after" || code=$?
  [[ $code == 1 ]] && head -1 "$name.after" | grep -Eq "$pattern" || fail "hang $name after its end exits $code: $(cat "$name.after")"
}

where='all-reduce [0-9]+ of communicator 0x[de][01]'
hangs died die 2 "job hangs: rank 2 has not called $where.*signal 9 \(Killed\)|^rank 2 has not called $where.*signal 9" 0 1 3
hangs exited exit 1 "rank 1 has not called $where.*exit code 3" 0 2 3
hangs stopped stop 2 "rank 2 has not called $where.*: it is stopped" 0 1 2 3
hangs left leave 3 "rank 3 has not called $where.*: it is outside CUDA" 0 1 2 3
hangs held event 0 "rank 0 has not begun $where.*lost-signal|rank 0 has not begun $where.*never written" 0 1 2 3
hangs kind kind 1 "rank 1 calls all-gather as collective 12 of communicator 0xd0, where ranks 0, 2 and 3 call all-reduce" 0 1 2 3
hangs size size 2 "rank 2 calls all-reduce of 4 KiB as collective 12 of communicator 0xd0, where ranks 0, 1 and 3 call all-reduce of 1 KiB" 0 1 2 3
hangs order order 1 "the order of rank 1 differs" 0 1 2 3

# The recorder of a rank and its program are killed, as if their host had died.
elsewhere=("${other_host[@]}")
begin gone none 0
elsewhere=()
both_begun() { [[ -e gone.barrier/progress.0 && -e gone.barrier/progress.2 ]]; }
wait_until 20 both_begun || fail "gone does not begin"
program=$(programs_of "${recorders[2]}")
kill -KILL "${recorders[2]}" "$program"
wait_until 20 says gone 0 1 3 || fail "gone: no verdict: $(tail -n +1 gone.*.err)"
grep -Eq "the job hangs: rank 2 is missing in .*: it has written nothing since [0-9:]+ UTC, ${other_host:+and nobody on its host node7 has}" gone.0.err || fail "gone: $(cat gone.0.err)"
late=$(($(modified_ms gone.0.err) - $(modified_ms gone.barrier/progress.0)))
((late <= 5000)) || fail "gone: verdict after $late ms"
echo "gone: $late ms after the last progress: $(head -1 gone.0.err)"
code=0
"$bin/streamscope" hang gone >gone.hang || code=$?
[[ $code == 1 ]] && grep -Eq '^rank 2 (is missing in|has not called|has not begun) .*: it (has written nothing since [0-9:]+ UTC|ended abruptly)' gone.hang || fail "hang gone: $(cat gone.hang)"
end

# One that is late for 2 s is no hang, and a job that ends is none.
began=$SECONDS
begin late late 1
for recorder in "${recorders[@]}"; do wait "$recorder" || fail "late: a recorder exits $?"; done
if ((SECONDS - began > 5)); then
  echo "late: the machine was so busy that the job was later than it should be"
else
  says late 0 || says late 1 || says late 2 || says late 3 && fail "late raised an alarm: $(tail -n +1 late.*.err)"
fi
"$bin/streamscope" hang --quiet late >late.hang || fail "hang late: $(cat late.hang)"
expect_nobody

if command -v mpirun >/dev/null; then
  mkdir mpi.barrier
  mpirun --allow-run-as-root --oversubscribe -n $ranks "$bin/streamscope" record --run mpi -- \
    sh -c 'RANK=$OMPI_COMM_WORLD_RANK WORLD_SIZE=$OMPI_COMM_WORLD_SIZE exec "$@"' sh "$child" job mpi.barrier stop 1 >/dev/null 2>mpi.err &
  mpirun=$!
  all_say() { [[ -e mpi.err && $(grep -c 'the job .*rank 1 has not called .*: it is stopped' mpi.err) == "$ranks" ]]; }
  wait_until 20 all_say || fail "mpirun: $(cat mpi.err)"
  mapfile -t recorders < <(programs_of $mpirun)
  end
  wait $mpirun || true
  expect_nobody
else
  echo "skipped: mpirun is not installed, so only a shell started ranks"
  exit 77
fi
