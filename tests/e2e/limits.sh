#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Under every limit of the system, from useless to just enough, a program ends and prints what it does without a
# recorder. The recorder reports what it could not record.
source "$(dirname "$0")/lib.sh" "$1"
export STREAMSCOPE_OUTPUT=$work/t.sqlite

# The environment lies on the stack: where that is small, what else is in it decides what a program can live with.
small=(env -i PATH="$PATH" STREAMSCOPE_BIN="$bin/streamscope" STREAMSCOPE_OUTPUT="$STREAMSCOPE_OUTPUT" inject="$inject" worker="$worker")
# So does the place where the kernel lets it begin, up to 8 KiB lower. Not everybody may have it at one place.
lost_kib=8
if setarch "$(uname -m)" -R true 2>/dev/null; then small+=(setarch "$(uname -m)" -R) lost_kib=0; fi

steps=3000 lived=0
limited='ulimit -$limit $value 2>/dev/null || exit 99; '
run='exec "$worker" exit '$steps' 7'

# code COMMAND...: its exit code, whatever it is
code() { local code=0; "$@" >out.txt 2>err.txt || code=$?; echo "$code"; }

# expect_told WAY: the trace has every launch, or reports what it lacks, or a line explains why there is none.
expect_told() {
  if [[ -f t.sqlite ]]; then
    "$bin/streamscope" info --json t.sqlite >info.json 2>info.err || fail "$1: info exited $?: $(cat info.err)"
    local launches losses
    launches=$(field info.json counts.kernel)
    losses=$(field info.json 'losses[#-1].name')
    [[ $launches == $((2 * steps)) || -n $losses ]] || fail "$1: $launches of $((2 * steps)) kernels and no loss"
  else
    grep -q '^streamscope: ' err.txt || fail "$1: no trace and no word: $(cat err.txt)"
  fi
}

# bare LIMIT VALUE: the program without us; its exit code. On a small stack with another library preloaded, for which the
# dynamic loader takes 2 KiB, and with 1 KiB for the variables that a recorder sets.
bare() {
  local other='' value=$2
  if [[ $1 == s ]]; then
    other="LD_PRELOAD=libm.so.6 PADDING=$(printf '%1000s' '' | tr ' ' x)"
    value=$((value - lost_kib))
  fi
  code "${small[@]}" env limit="$1" value="$value" bash -c "$limited $other $run"
}

# as_bare LIMIT VALUE
as_bare() {
  local limit=$1 value=$2 way got expected
  expected=$(bare "$limit" "$value")
  [[ $expected == 7 ]] || return 0  # the program cannot live with it
  lived=$((lived + 1))
  cp out.txt bare.txt
  for way in both program library; do
    rm -rf t.sqlite*
    case $way in
      both) set -- bash -c "$limited"' exec "$STREAMSCOPE_BIN" record --force -o t.sqlite -- "$worker" exit '$steps' 7' ;;
      program) set -- "$bin/streamscope" record --force -o t.sqlite -- bash -c "$limited $run" ;;
      library) set -- bash -c "$limited LD_PRELOAD=\$inject $run" ;;
    esac
    got=$(code "${small[@]}" env limit="$limit" value="$value" "$@")
    if [[ $way == both && $got != 7 ]]; then
      # The recorder itself cannot start: then nothing ran, and it reports that.
      [[ $got == 2 || $got == 127 ]] && [[ ! -s out.txt && $(grep -c . err.txt) == 1 ]] ||
        fail "-$limit $value, $way: exit code $got: $(cat err.txt)"
      continue
    fi
    [[ $got == 7 ]] || fail "-$limit $value, $way: exit code $got: $(cat err.txt)"
    cmp -s out.txt bare.txt || fail "-$limit $value, $way: $(cat out.txt) instead of $(cat bare.txt)"
    if [[ $way == library ]]; then
      [[ -s t.sqlite || -d t.sqlite.rings || -s err.txt ]] || fail "-$limit $value, $way: nothing is recorded and nothing reported"
      wait_until 20 ended || fail "-$limit $value, $way: the writer does not end"
    fi
    expect_told "-$limit $value, $way"
  done
}
ended() { (expect_nobody) >/dev/null; }

# From what is of no use to what is just enough; tests/faults/limits.py takes all steps between.
for kib in 20 40 2000; do as_bare f "$kib"; done
lived=0
for kib in 16 24 32 64; do as_bare s "$kib"; done
((lived > 1)) || fail "the program lives on none of the small stacks"
for files in 4 6 9 12; do as_bare n "$files"; done
for kib in 10000 40000; do as_bare v "$kib"; done

# A ring that may not grow because of a file size limit: counted, with the reason.
rm -rf t.sqlite*
export worker
"$bin/streamscope" record --quiet -o t.sqlite -- bash -c "ulimit -f 100; exec \"\$worker\" exit 30000 7" >out.txt 2>err.txt && fail "exit code 0" || code=$?
[[ $code == 7 ]] || fail "exit code $code with a limit on the size of files: $(cat err.txt)"
"$bin/streamscope" info t.sqlite >info.txt
grep -q 'ring-not-grown.*File too large' info.txt || fail "the loss is not reported: $(cat info.txt)"
