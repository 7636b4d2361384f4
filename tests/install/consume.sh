# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For both ways of consuming StreamScope: `source consume.sh BUILD SOURCE`.
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh" "$1"
source_folder=$2

quietly() { "$@" >log.txt 2>&1 || fail "$* exited $? and said: $(cat log.txt)"; }

# consume CMAKE_ARGUMENTS...: builds the project in consumer/ and runs both of its programs
consume() {
  quietly cmake -G Ninja -S "$source_folder/tests/install/consumer" -B consumer "$@"
  quietly cmake --build consumer
  quietly consumer/consumer
  [[ $(cat log.txt) == 42 ]] || fail "the consumer said $(cat log.txt)"
  [[ -z $(compgen -G '*consumer-*') ]] || fail "a program that is not recorded left $(ls)"

  quietly consumer/recorded_consumer
  local pattern='recorded_consumer-*.sqlite'
  finished() { compgen -G "$pattern" >/dev/null && ! compgen -G "$pattern?*" >/dev/null; }
  wait_until 60 finished || fail "no trace of the program linked with streamscope::collect; there is: $(ls)"
  expect_complete "$(compgen -G "$pattern")" 1
  [[ $(field info.json counts.kernel) == 2 && $(field info.json counts.operation) == 2 ]] || fail "$(cat info.json)"
}
