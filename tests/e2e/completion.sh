#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Completion as a shell requests it, and the manual as man prints it.
source "$(dirname "$0")/lib.sh" "$1"

"$bin/streamscope" completion bash >bash || fail "completion bash exited $?"
source ./bash

# expect_words WORDS... = LINE...: what completes the last word of a line.
expect_words() {
  local expected=()
  while [[ $1 != = ]]; do expected+=("$1"); shift; done
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _streamscope || true  # without a match compgen fails
  [[ ${COMPREPLY[*]} == "${expected[*]}" ]] || fail "$*: completed by '${COMPREPLY[*]}' instead of '${expected[*]}'"
}

expect_words record report = streamscope re
expect_words structure times events = streamscope record --tier ""
expect_words times = streamscope record --tier t
expect_words --fail-on --format = streamscope check --f
expect_words chrome chakra perfetto dot csv sqlite = streamscope export t.sqlite --to ""
expect_words bash zsh fish = streamscope completion ""
expect_words merge metrics manual = streamscope help m
expect_words '=' streamscope info --nothing
COMP_WORDS=(streamscope record -- cat) COMP_CWORD=3
_streamscope || true
[[ " ${COMPREPLY[*]} " == *" cat "* ]] || fail "a program after -- is not completed"

# Every command that help lists, and all of its long options, are in every script.
for shell in bash zsh fish; do
  "$bin/streamscope" completion $shell >$shell || fail "completion $shell exited $?"
  while read -r command _; do
    grep -qw -- "$command" $shell || fail "$shell does not know $command"
    [[ $command == view ]] && continue
    while read -r option; do
      [[ $shell == fish ]] && option="-l ${option#--}"
      grep -qw -- "$option" $shell || fail "$shell does not know $command $option"
    done < <("$bin/streamscope" "$command" --help | sed -n 's/^  \(-[a-z],\)\?\(--[a-z-]*\).*/\2/p')
  done < <("$bin/streamscope" help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p')
  if [[ $shell != bash ]] && command -v $shell >/dev/null; then
    $shell -n $shell || fail "$shell does not read its script"
  fi
done
code=0
"$bin/streamscope" completion tcsh >out.txt 2>err.txt || code=$?
[[ $code == 2 && $(wc -l <err.txt) == 1 ]] || fail "completion tcsh: exit code $code: $(cat err.txt)"

"$bin/streamscope" manual >page || fail "manual exited $?"
if command -v man >/dev/null; then
  LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l page >text 2>warnings || fail "man does not print the page"
  [[ ! -s warnings ]] || fail "man warns: $(cat warnings)"
  for word in "streamscope record" "\-\-hang-timeout" "EXIT STATUS" "\-\-what-if"; do
    grep -q -- "$word" text || fail "the manual lacks $word"
  done
else
  echo "without man, so the page was not printed"
fi
echo "passed"
