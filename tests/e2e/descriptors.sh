#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Standard input, output and error may be closed in every combination, or go nowhere: the program finds them so, is
# recorded, and none of its files gets a word of ours.
source "$(dirname "$0")/lib.sh" "$1"
export STREAMSCOPE_BIN=$bin/streamscope STREAMSCOPE_OUTPUT=$work/t.sqlite worker
recorded() { compgen -G 't.sqlite' >/dev/null && ! compgen -G 't.sqlite?*' >/dev/null; }

# What the program finds, then the work; the first of its files lands in the lowest place that is free.
cat >find.sh <<'END'
open=""
for file in 0 1 2; do [[ ! -L /proc/$$/fd/$file ]] || open+=$file; done
echo "$open" >seen.txt
exec "$worker" file 100 data.txt
END

for closed in 000 001 010 011 100 101 110 111; do
  close=""
  [[ ${closed:0:1} == 0 ]] || close+=' 0<&-'
  [[ ${closed:1:1} == 0 ]] || close+=' 1>&-'
  [[ ${closed:2:1} == 0 ]] || close+=' 2>&-'
  for way in bare record library missing; do
    rm -rf t.sqlite* seen.txt data.txt
    case $way in
      bare) command=(bash find.sh) ;;
      record) command=("$bin/streamscope" record -o t.sqlite -- bash find.sh) ;;
      library) command=(bash -c "LD_PRELOAD=$inject exec bash find.sh") ;;
      missing) command=(bash -c "LD_PRELOAD=$inject STREAMSCOPE_BIN=/nowhere exec bash find.sh") ;;
    esac
    code=0
    bash -c "exec \"\$@\" $close" bash "${command[@]}" </dev/null >out.txt 2>err.txt || code=$?
    [[ $code == 0 ]] || fail "$closed, $way: exit code $code: $(cat err.txt)"
    if [[ $way == bare ]]; then
      cp seen.txt bare_seen.txt && cp data.txt bare_data.txt
      continue
    fi
    cmp -s seen.txt bare_seen.txt || fail "$closed, $way: the program finds $(cat seen.txt) open instead of $(cat bare_seen.txt)"
    cmp -s data.txt bare_data.txt || fail "$closed, $way: its file holds: $(cat data.txt)"
    [[ $way != missing ]] || continue
    wait_until 20 recorded || fail "$closed, $way: not recorded: $(ls) $(cat err.txt)"
    [[ $("$bin/streamscope" info --json t.sqlite >info.json && field info.json counts.kernel) == 200 ]] || fail "$closed, $way: $(cat info.json)"
  done
done

# If no message can be read, the program's own exit code counts.
for code in 0 7; do
  for where in '2>/dev/full' '2>&-' '2> >(exit)' '>/dev/full 2>&1'; do
    rm -rf t.sqlite*
    got=0
    bash -c "\"\$STREAMSCOPE_BIN\" record -o t.sqlite -- \"\$worker\" exit 10 $code $where" >/dev/null || got=$?
    [[ $got == "$code" ]] || fail "record $where exited $got instead of $code"
    [[ -f t.sqlite ]] || fail "record $where: no trace"
  done
done
got=0
"$bin/streamscope" record --force -o /nowhere/t.sqlite -- "$worker" exit 10 0 2>/dev/full || got=$?
[[ $got == 2 ]] || fail "an error that cannot be printed exited $got"
got=0
"$bin/streamscope" info t.sqlite >&- 2>err.txt || got=$?
[[ $got == 2 ]] && grep -q 'standard output' err.txt || fail "info with standard output closed exited $got: $(cat err.txt)"
