#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# On a terminal a report has colors, unless NO_COLOR or the terminal forbids it; --quiet leaves only the program's output.
source "$(dirname "$0")/lib.sh" "$1"

"$bin/streamscope" record --quiet -o t.sqlite -- "$worker" count 20 >out.txt 2>err.txt
[[ ! -s err.txt && $(wc -l <out.txt) == 1 ]] || fail "--quiet is not: $(cat out.txt err.txt)"
[[ -z $("$bin/streamscope" analyze --quiet t.sqlite 2>&1) ]] || fail "analyze --quiet is not"

# Of util-linux; simulates a terminal. Containers may have neither it nor pseudo-terminals.
script -qec true /dev/null >/dev/null 2>&1 || { echo "no pseudo-terminal here: colors were not tried" && exit 77; }
escapes() { script -qec "env -u NO_COLOR $* $bin/streamscope report t.sqlite" /dev/null | grep -c $'\x1b\\[' || true; }
(($(escapes TERM=xterm) > 0)) || fail "no colors on a terminal"
[[ $(escapes TERM=xterm NO_COLOR=1) == 0 ]] || fail "NO_COLOR is not obeyed"
[[ $(escapes TERM=dumb) == 0 ]] || fail "colors on a dumb terminal"
