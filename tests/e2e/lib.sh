# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck shell=bash disable=SC2034  # variables for whoever sources this
#
# For the end-to-end tests: `source lib.sh BUILD` gives a scratch folder to work in, and these words.

set -euo pipefail
build=$1
bin=$build/bin
inject=$build/lib/libstreamscope_inject.so
worker=$bin/tests/worker
work=$(mktemp -d)
companions=()  # processes that end with the test
trap 'kill -KILL "${companions[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
unset "${!STREAMSCOPE_@}"

fail() {
  echo "FAILED: $*"
  exit 1
}

# field FILE.json PATH: a value out of a JSON file
field() { sqlite3 :memory: "select json_extract(cast(readfile('$1') as text), '\$.$2')"; }

# sql TRACE QUERY
sql() { sqlite3 -readonly "$1" "$2"; }

# expect_counts TRACE COUNTS.json: `info --json` has every number that the program printed, whichever it prints.
expect_counts() {
  "$bin/streamscope" info --json "$1" >info.json || fail "info $1 exited $?"
  local printed key value got compared=0
  while read -r printed key; do
    value=$(field "$2" "$printed")
    [[ -n $value ]] || continue
    got=$(field info.json "counts.$key")
    [[ $got == "$value" ]] || fail "$1: $key is ${got:-missing}, but the program's $printed are $value"
    compared=$((compared + 1))
  done <<END
launches kernel
copies memcpy
memsets memset
records event_record
waits event_wait
edges event_edge
syncs host_sync
operations operation
END
  ((compared)) || fail "the program printed no count: $(cat "$2")"
}

# expect_complete TRACE 1|0
expect_complete() {
  "$bin/streamscope" info --json "$1" >info.json
  local complete
  complete=$(field info.json complete)
  [[ $complete == "$2" ]] || fail "$1: complete is $complete, expected $2"
}

# expect_one_file TRACE: nothing is left beside the trace.
expect_one_file() {
  local left
  left=$(ls -d "$1"?* 2>/dev/null || true)
  [[ -z $left ]] || fail "left behind: $left"
  [[ -f $1 ]] || fail "no $1"
}

# wait_until SECONDS COMMAND...: polls until the command succeeds
wait_until() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.05
  done
}

# expect_nobody: no process that works in the scratch folder is left but the test itself.
expect_nobody() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/cwd" 2>/dev/null) != "$work" || ${process#/proc/} == "$$" || ${process#/proc/} == "$BASHPID" ]] ||
      fail "still there: $(tr '\0' ' ' <"$process/cmdline")"
  done
}
