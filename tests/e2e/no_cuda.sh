#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Programs that never touch CUDA do not notice a preloaded library, and nothing is left behind.
source "$(dirname "$0")/lib.sh" "$1"

# same COMMAND...: output, errors and exit code are the same with and without the library; no file appears.
same() {
  local bare_code=0 code=0
  "$@" >bare.out 2>bare.err || bare_code=$?
  mkdir empty
  (cd empty && LD_PRELOAD=$inject "$@") >preload.out 2>preload.err || code=$?
  [[ $code == "$bare_code" ]] || fail "exit code $code instead of $bare_code: $*"
  cmp bare.out preload.out || fail "output differs: $*"
  cmp bare.err preload.err || fail "errors differ: $*"
  rmdir empty || fail "files left by: $* ($(ls empty))"
}

same sh -c 'echo out; echo err >&2; exit 5'
same bash -c '(echo child; exit 3); echo "child said $?"; (sleep 0.1; echo late) & wait'   # forks
same sqlite3 :memory: 'create table t(x); insert into t values (41); select x + 1 from t'  # has its own SQLite
same sh -c 'kill -TERM $$'
same env -i sh -c 'echo clean environment'
