#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The gate never passes a trace that does not reach the end of its program, whenever it reads. STREAMSCOPE_GATE_TRIES sets how often it is
# tried (default 9).
tries=${STREAMSCOPE_GATE_TRIES:-9}
source "$(dirname "$0")/lib.sh" "$1"
export STREAMSCOPE_BIN=$bin/streamscope

# code COMMAND...: its exit code, whatever it is
code() { local code=0; "$@" >out.txt 2>err.txt || code=$?; echo "$code"; }
# pause LEAST MOST: a random number of milliseconds
pause() { sleep "$(printf '0.%03d' $(($1 + RANDOM % ($2 - $1 + 1))))"; }
# trace_of: the trace that is written here, by its rings if it does not exist yet
trace_of() { local name; name=$(ls -d ./*.sqlite* 2>/dev/null | head -1) || true; name=${name#./}; echo "${name%%.sqlite*}.sqlite"; }
has_trace() { [[ $(trace_of) != .sqlite ]]; }
clear_folder() { rm -rf ./*.sqlite*; }
# writer_of PROGRAM: the process id of its detached writer; nothing if that has ended
writer_of() { pgrep -f -- "--attach-writer --ready-fd 3 --target $1\$" || true; }

race=$bin/examples/race
declare -A seen
for ((try = 0; try < tries; try++)); do
  clear_folder
  # Every third reads while the program runs, the others after its end, while the detached writer still drains.
  LD_PRELOAD=$inject "$race" --device sim >/dev/null 2>race.err &
  program=$!
  if ((try % 3 == 0)); then
    wait_until 20 has_trace || fail "nothing is recorded: $(cat race.err)"
  else
    wait $program || fail "race exited $?: $(cat race.err)"
  fi
  pause 0 $((try % 3 == 1 ? 40 : 700))
  if has_trace; then
    trace=$(trace_of)
    at_once=$(code "$bin/streamscope" check "$trace" --wait 0 --quiet)
    # 2: there is nothing to read yet.
    [[ $at_once == [123] ]] || fail "try $try: check --wait 0 exited $at_once: $(cat out.txt err.txt)"
    [[ $at_once != 2 ]] || grep -q 'not written yet' err.txt || fail "try $try: $(cat err.txt)"
    seen[$at_once]=$((${seen[$at_once]:-0} + 1))
    waited=$(code "$bin/streamscope" check "$trace" --quiet)
    [[ $waited == 1 ]] || fail "try $try: check exited $waited instead of 1: $(cat out.txt err.txt)"
  fi
  wait $program 2>/dev/null || true
done
echo "check --wait 0 in $tries tries: 1 (found) ${seen[1]:-0}, 2 (nothing there yet) ${seen[2]:-0}, 3 (unfinished) ${seen[3]:-0}"

# Commands that only show data read a live trace, and report that it is unfinished; gates abstain.
clear_folder
: >steps.txt
LD_PRELOAD=$inject "$worker" forever >steps.txt 2>worker.err &
program=$!
wait_until 20 eval '[[ $(wc -l <steps.txt) -gt 300 ]]' || fail "worker does not proceed: $(cat worker.err)"
trace=$(trace_of)
wait_until 20 eval '"$bin/streamscope" info "$trace" >/dev/null 2>&1' || fail "no trace of a live program"
for format in text markdown html json; do
  [[ $(code "$bin/streamscope" report "$trace" --quiet --format $format) == 0 ]] || fail "report --format $format: $(cat err.txt)"
  grep -q unfinished out.txt || fail "report --format $format does not report that the trace is unfinished"
done
for command in "info" "info --json" "export --to chrome" "export --to csv" "query"; do
  read -ra words <<<"$command"
  arguments=("${words[0]}" "$trace" "${words[@]:1}")
  [[ $command != query ]] || arguments+=("select count(*) from op")
  [[ $(code "$bin/streamscope" "${arguments[@]}") == 0 ]] || fail "$command: $(cat err.txt)"
  cat out.txt err.txt | grep -q unfinished || fail "$command does not report that the trace is unfinished"
done
for format in text markdown json junit github sarif; do
  [[ $(code "$bin/streamscope" check "$trace" --quiet --wait 0 --format $format) == 3 ]] || fail "check of a live trace: $(cat out.txt err.txt)"
  grep -q unfinished out.txt || fail "check --format $format does not report that the trace is unfinished"
done
[[ $(code "$bin/streamscope" check "$trace" --quiet --wait 0 --write-baseline baseline.json) == 3 && ! -e baseline.json ]] ||
  fail "a baseline of a live trace: $(cat err.txt)"
[[ $(code "$bin/streamscope" diff "$trace" "$trace" --quiet --wait 0) == 3 ]] || fail "diff of a live trace: $(cat out.txt err.txt)"
[[ $(code "$bin/streamscope" merge "$trace" "$trace" --quiet --wait 0 -o both.sqlite) == 0 ]] || fail "merge of live traces: $(cat err.txt)"
[[ $(code "$bin/streamscope" check both.sqlite --quiet) == 3 ]] || fail "a merge of live traces passes: $(cat out.txt)"
rm both.sqlite
# The wait is reported, and ends in time.
begin=$SECONDS
[[ $(code "$bin/streamscope" check "$trace" --quiet --wait 1) == 3 ]] || fail "check --wait 1: $(cat out.txt err.txt)"
((SECONDS - begin >= 1 && SECONDS - begin < 60)) || fail "check --wait 1 took $((SECONDS - begin)) s"
grep -q 'still being recorded; waiting up to 1 s' err.txt || fail "no word of the wait: $(cat err.txt)"
# A copy has no recorder beside it and is as unfinished.
sqlite3 "$trace" ".backup copy.sqlite"
[[ $(code "$bin/streamscope" check copy.sqlite --quiet) == 3 ]] || fail "a copy of a live trace passes: $(cat out.txt)"
# A link leads to the recorder.
ln -s "$trace" link.sqlite
[[ $(code "$bin/streamscope" check link.sqlite --quiet --wait 1) == 3 ]] || fail "a link to a live trace passes: $(cat out.txt)"
grep -q 'still being recorded' err.txt || fail "a link hides the recorder: $(cat err.txt)"
rm -f copy.sqlite link.sqlite

# The recorder is killed and the program continues: what came later is missing, and nothing can prove that it was clean.
writer=$(writer_of $program)
[[ -n $writer ]] || fail "no writer of $program"
kill -KILL "$writer"
[[ $(code "$bin/streamscope" check "$trace" --quiet) == 3 ]] || fail "the trace of a killed recorder passes: $(cat out.txt err.txt)"
[[ ! -e $trace.rings ]] || fail "the rings were not recovered"
[[ $(code "$bin/streamscope" check "$trace" --quiet) == 3 ]] || fail "the recovered trace passes: $(cat out.txt err.txt)"
grep -q recording-ended-early out.txt || fail "no word of what is missing: $(cat out.txt)"
kill -KILL $program
wait $program 2>/dev/null || true

# The same at any moment of a program that has a certain finding: recovered it is found, or the trace is unfinished.
for ((try = 0; try < (tries + 9) / 10; try++)); do
  clear_folder
  LD_PRELOAD=$inject "$race" --device sim --iterations 400 >/dev/null 2>&1 &
  program=$!
  wait_until 20 has_trace || fail "nothing is recorded"
  pause 0 60
  writer=$(writer_of $program)
  [[ -z $writer ]] || kill -KILL "$writer" 2>/dev/null || true
  wait $program || fail "the program ended with $? when its recorder was killed"
  killed=$(code "$bin/streamscope" check "$(trace_of)" --quiet)
  [[ $killed == [13] ]] || fail "killed, try $try: check exited $killed: $(cat out.txt err.txt)"
done
expect_nobody
echo "passed"
