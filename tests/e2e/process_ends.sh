#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# How processes end and what they become: distinguished, recorded completely, and nothing claimed that is not known.
source "$(dirname "$0")/lib.sh" "$1"
program=$bin/tests/processes

# record HOW CODE [ARGUMENT]: into HOW.sqlite
record() {
  local code=0
  "$bin/streamscope" record --hang-timeout 0 -o "$1.sqlite" -- "$program" "$1" ${3:+"$3"} 2>"$1.err" || code=$?
  [[ $code == "$2" ]] || fail "$1: exit code $code instead of $2: $(cat "$1.err")"
  expect_one_file "$1.sqlite"
  ! grep -q 'killed or crashed' "$1.err" || [[ ${3:-} == kill ]] || fail "$1 is called killed: $(cat "$1.err")"
}

# expect_processes TRACE N: ten steps each, every wait bound within its own process
expect_processes() {
  local got
  got=$(sql "$1" "select (select count(*) from process), (select count(*) from event_record), (select count(*) from event_wait),
    (select count(*) from event_wait where binding = 0),
    (select count(*) from event_wait w join event_record r on r.id = w.record_id join thread a on a.id = w.thread_id
       join thread b on b.id = r.thread_id where a.process_id = b.process_id)")
  [[ $got == "$2|$((10 * $2))|$((10 * $2))|$((10 * $2))|$((10 * $2))" ]] ||
    fail "$1: processes, records, waits, exact waits, own records are $got"
}

# losses TRACE: kinds, with their counts
losses() { sql "$1" 'select value, sum(count) from loss join string on string.id = name_id group by 1 order by 1' | tr '\n' ' '; }

expect_losses() {
  local got
  got=$(losses "$1")
  [[ $got == "$2" ]] || fail "$1: losses are '$got' instead of '$2'"
}

for how in _exit _Exit; do
  record $how 7
  expect_processes $how.sqlite 1
  expect_losses $how.sqlite 'exit-handlers-skipped|1 '
  [[ $(sql $how.sqlite 'select exit_code, exit_signal is null from process') == '7|1' ]] || fail "$how: the code is not there"
done
record quick_exit 7
expect_processes quick_exit.sqlite 1
expect_losses quick_exit.sqlite ''
expect_complete quick_exit.sqlite 1
# The signal may come between the last launch and the report of its end: then that is missing, and reported as missing.
record handler 7
case $(sql handler.sqlite 'select count(*) from op where end_ns is null') in
  0) expect_losses handler.sqlite 'exit-handlers-skipped|1 ' ;;
  1) expect_losses handler.sqlite 'exit-handlers-skipped|1 times-not-delivered|1 ' ;;
  *) fail "handler: several ops have no end" ;;
esac

# A child: known from itself, not from wait(), which only its parent can call.
record child 0 _exit
expect_processes child.sqlite 2
expect_losses child.sqlite 'exit-handlers-skipped|1 '
[[ $(sql child.sqlite 'select exit_code from process where complete = 0') == 3 ]] || fail "the child's code is not there"
rm child.sqlite
record child 0 kill
expect_losses child.sqlite 'process-end-unknown|1 '
record vfork 0
expect_processes vfork.sqlite 1
expect_losses vfork.sqlite ''

# Another program in the same process.
record exec 0
expect_processes exec.sqlite 2
expect_losses exec.sqlite 'exit-handlers-skipped|1 '
[[ $(sql exec.sqlite 'select count(distinct os_pid) from process') == 1 ]] || fail "exec made another process"
record exec-three 0
expect_processes exec-three.sqlite 3
record exec-true 0
expect_processes exec-true.sqlite 1
expect_losses exec-true.sqlite 'exit-handlers-skipped|1 '

# A child forked after the first use records its work on its own device.
record after-use 0
expect_processes after-use.sqlite 2
expect_losses after-use.sqlite ''

# A daemon: the launched program ends at once; the trace is at the path of -o, with the options of the recording.
mkdir service
(cd service && "$bin/streamscope" record --stacks none -o d.sqlite -- "$program" daemon "$work/done" 2>err.txt) || fail "the daemon's launcher exited $?"
wait_until 20 test -e "done" || fail "the daemon does not work"
finished() { [[ -f service/d.sqlite && ! -e service/d.sqlite.rings ]]; }
wait_until 20 finished || fail "no trace of the daemon: $(ls -a service) $(cat service/err.txt)"
expect_processes service/d.sqlite 1
expect_losses service/d.sqlite ''
# The same without the launcher: where the program was started.
rm -f "done"
mkdir alone
(cd alone && LD_PRELOAD=$inject "$program" daemon "$work/done")
wait_until 20 test -e "done" || fail "the daemon does not work"
finished() { compgen -G 'alone/processes-*.sqlite' >/dev/null && ! compgen -G 'alone/*.rings' >/dev/null; }
wait_until 20 finished || fail "no trace of the daemon: $(ls -a alone)"
! compgen -G '/processes-*.sqlite' >/dev/null || fail "a trace lies in /"
rm -f "done"
(cd alone && STREAMSCOPE_OUTPUT=named.sqlite LD_PRELOAD=$inject "$program" daemon "$work/done")
finished() { [[ -f alone/named.sqlite && ! -e alone/named.sqlite.rings ]]; }
wait_until 20 finished || fail "STREAMSCOPE_OUTPUT is not where the program started: $(ls -a alone)"

# Names are free of meaning, also for the paths that writer and program tell each other.
odd=$'new\nline.sqlite'
"$bin/streamscope" record --quiet -o "$odd" -- "$program" steps || fail "record into a name with a newline exited $?"
[[ -f $odd && ! -e $odd.rings ]] || fail "no trace: $(ls)"
[[ $(sql "$odd" 'select count(*) from event_wait') == 10 ]] || fail "its waits are missing"
odd=$'other\nline.sqlite'
STREAMSCOPE_OUTPUT=$odd LD_PRELOAD=$inject "$program" steps
finished() { [[ -f $odd && ! -e $odd.rings ]]; }
wait_until 20 finished || fail "no trace in $odd: $(ls)"
expect_nobody
