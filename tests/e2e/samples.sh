#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# `record --samples`: where the time of programs goes, as they measure it themselves, in Python on each interpreter that is
# here and in native code; and that programs do not notice it. The driver is a stand-in. STREAMSCOPE_ALL_KILLS=1: more often.
often=${STREAMSCOPE_ALL_KILLS:-0}
programs=$(cd "$(dirname "$0")/programs" && pwd)
source "$(dirname "$0")/lib.sh" "$1"

fake=$build/tests/fake
[[ -f $fake/libcuda.so.1 ]] || { echo "SKIPPED: built without the CUDA headers"; exit 77; }

# interpreters: the paths of all that have ctypes, each once.
interpreters() {
  local minor name
  for minor in 8 9 10 11 12 13; do
    for name in "python3.$minor" "$HOME/.pyenv/versions/3.$minor".*/bin/python3; do
      "$name" -c "import ctypes, os, sys
if sys.version_info[1] == $minor: print(os.path.realpath(sys.executable))" 2>/dev/null || true
    done
  done | sort -u
}

# frames TRACE: a row for each frame of each sample
frames() {
  sqlite3 -readonly -json "$1" "select host_sample.id as sample, runs, system_call, string.value as text,
      case stack_frame.kind when 1 then 'python' when 0 then 'native' end as kind
    from host_sample left join stack_frame on stack_frame.stack_id = host_sample.stack_id
    left join string on string.id = symbol_id order by host_sample.id, depth"
}

expect_gone() { [[ ! -e /proc/$1 ]]; }
# record TRACE HZ PROGRAM...: what the program prints goes to out.txt, the rest to err.txt; a hang ends with 137.
record() {
  LD_LIBRARY_PATH=$fake timeout -s KILL 60 "$bin/streamscope" record --samples "$2" --tier structure --quiet --force \
    -o "$1" -- "${@:3}" >out.txt 2>err.txt
}
samples() { sql "$1" "select count(*) from host_sample where ${2:-1}"; }
# expect_code CODE TRACE HZ PROGRAM...
expect_code() {
  local code=0
  record "${@:2}" || code=$?
  [[ $code == "$1" && ! -s err.txt ]] || fail "${*:4}: exit code $code instead of $1: $(cat err.txt)"
  [[ $(sql "$2" 'pragma integrity_check') == ok ]] || fail "$2 is damaged"
}

for python in $(interpreters); do
  echo "$python"
  expect_code 0 python.sqlite 500 "$python" "$programs/samples.py" 1.5
  frames python.sqlite >frames.json
  "$python" "$programs/samples_check.py" "$programs/samples.py" out.txt frames.json || fail "$python"
  [[ $(sql python.sqlite "select value from meta where key = 'sample_hz'") == 500 ]] || fail "the rate is not in the trace"
done
[[ -n $(interpreters) ]] || echo "SKIPPED: Python 3.8 to 3.13 with ctypes"

# Native code. A stack that can be unwound needs libdw.
sampled=$bin/tests/sampled
expect_code 0 work.sqlite 500 "$sampled" work
cp out.txt spent.json
all=$(samples work.sqlite)
((all > 150)) || fail "only $all samples"
if [[ $(samples work.sqlite 'stack_id is not null') == 0 ]]; then
  echo "SKIPPED: native stacks, in a build without libdw"
else
  without=$(samples work.sqlite 'stack_id is null')
  ((without * 20 < all)) || fail "$without of $all samples have no stack"
  for step in run rest; do
    inside="stack_id in (select stack_id from stack_frame join string on string.id = symbol_id where value like '%${step}_here%')"
    share=$(samples work.sqlite "$inside")
    truth=$(field spent.json "$step")
    echo "native $step: $share of $all samples, $truth of $(field spent.json all) s"
    [[ $(sqlite3 :memory: "select abs(1.0 * $share / $all - $truth / $(field spent.json all)) < 0.15") == 1 ]] ||
      fail "$step has $share of $all samples, and $truth of $(field spent.json all) s"
    # On a busy machine it waits for a processor after it has slept.
    [[ $(sql work.sqlite "select count(*) > 0.4 * $share from host_sample
      where $inside and runs = ('$step' = 'run') and (system_call is null) = runs") == 1 ]] || fail "$step: runs is wrong"
  done
fi
# Running, or ready to run while others have the processors.
[[ $(sql work.sqlite "select sum(ran_ns) < 1.6e9 and sum(ran_ns + delayed_ns) > 0.7e9 * $(field spent.json run)
  from host_sample") == 1 ]] || fail "it ran for $(sql work.sqlite 'select sum(ran_ns), sum(delayed_ns) from host_sample') ns"

# Programs print the same, sampled and not: no signal is lost, and no call is interrupted.
for scenario in "signals 20000" waits; do
  read -ra arguments <<<"$scenario"
  LD_LIBRARY_PATH=$fake "$sampled" "${arguments[@]}" >expected.txt
  expect_code 0 same.sqlite 2000 "$sampled" "${arguments[@]}"
  diff expected.txt out.txt || fail "$scenario: sampled, it prints $(cat out.txt)"
  (($(samples same.sqlite) > 100)) || fail "$scenario: $(samples same.sqlite) samples"
done
grep -q 'interrupted 0' expected.txt || fail "the control is interrupted: $(cat expected.txt)"

# Threads, children and images that come and go.
for ((round = 0; round < (often ? 3 : 1); ++round)); do
  expect_code 5 churn.sqlite 2000 "$sampled" churn
  (($(samples churn.sqlite) > 10)) || fail "churn: $(samples churn.sqlite) samples"
done

# No samples: at a rate of 0, and by a flight recorder.
expect_code 0 none.sqlite 0 "$sampled" steady 100
[[ $(samples none.sqlite) == 0 && -z $(sql none.sqlite "select * from meta where key like 'sample%'") ]] ||
  fail "--samples 0 takes $(samples none.sqlite) samples"
LD_LIBRARY_PATH=$fake "$bin/streamscope" record --flight-recorder 1 --quiet -o flight.sqlite -- "$sampled" steady 100 >out.txt
[[ $(samples flight.sqlite) == 0 ]] || fail "a flight recorder takes $(samples flight.sqlite) samples"
LD_LIBRARY_PATH=$fake "$bin/streamscope" record --tier structure --quiet -o default.sqlite -- "$sampled" steady 500 >out.txt
(($(samples default.sqlite) > 10)) || fail "no samples without the option"

# The recorder is killed while it samples: the program goes on, and what was recorded is there.
kept=0
for ((round = 0; round < (often ? 10 : 3); ++round)); do
  LD_LIBRARY_PATH=$fake "$bin/streamscope" record --samples 2000 --tier structure --quiet -o killed.sqlite -- \
    "$sampled" steady 700 >killed.txt 2>killed.err &
  launcher=$!
  wait_until 20 test -s killed.txt || fail "it does not start: $(cat killed.err)"
  sleep "0.2$round"
  kill -KILL "$launcher"
  wait "$launcher" 2>/dev/null || true
  wait_until 20 grep -q '^received 1400$' killed.txt ||
    fail "round $round: the program does not end: $(cat killed.txt) $(grep State "/proc/$(head -1 killed.txt)/status")"
  wait_until 20 expect_gone "$(head -1 killed.txt)" || fail "the program does not end"
  "$bin/streamscope" info killed.sqlite >/dev/null 2>info.err || fail "recovery failed: $(cat info.err)"
  "$bin/streamscope" report --quiet killed.sqlite >/dev/null 2>info.err || fail "report failed: $(cat info.err)"
  # Samples are not in the rings, so the last moments are lost.
  kept=$((kept + $(samples killed.sqlite)))
  rm killed.sqlite
done
((kept > 0)) || fail "all samples are lost with the recorder"

# Processes that may not be read, and those that another traces already: samples are missing, and nothing else.
expect_code 6 private.sqlite 2000 "$sampled" private
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
  mkdir -m 777 unprivileged
  chmod 755 .
  if setpriv --reuid=65534 --regid=65534 --clear-groups "$sampled" unknown 2>/dev/null; [[ $? != 127 ]]; then
    code=0
    LD_LIBRARY_PATH=$fake setpriv --reuid=65534 --regid=65534 --clear-groups "$bin/streamscope" record --samples 2000 \
      --tier structure --quiet -o unprivileged/private.sqlite -- "$sampled" private >out.txt 2>err.txt || code=$?
    [[ $code == 6 && ! -s err.txt ]] || fail "private: exit code $code instead of 6: $(cat err.txt)"
    [[ $(samples unprivileged/private.sqlite) == 0 ]] || fail "a private process is sampled"
  fi
fi
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
  expect_code 0 traced.sqlite 2000 strace -f -o /dev/null "$sampled" steady 300
  grep -q '^received 600$' out.txt || fail "traced by strace, it prints $(cat out.txt)"
  [[ $(samples traced.sqlite 'runs and stack_id is not null') == 0 ]] || fail "a traced thread was stopped"
else
  echo "SKIPPED: strace"
fi
expect_nobody
