#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Programs into which nothing can be preloaded, or only with care, run under `record` as without it; and the recorder itself
# never loads the driver.
source "$(dirname "$0")/lib.sh" "$1"

cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** arguments) {
  volatile int size = 10;
  volatile char* bytes = malloc(size);
  if (count > 1) bytes[size] = 1;
  puts(arguments[0]);
  free((void*)bytes);
  return 3;
}
END

# unchanged PROGRAM: same output and exit code, and the user reads that there is no trace.
unchanged() {
  local code=0
  "$bin/streamscope" record --tier structure -o none.sqlite -- "$1" >out.txt 2>err.txt || code=$?
  [[ $code == 3 ]] || fail "exit code $code instead of 3: $1 ($(cat err.txt))"
  [[ $(cat out.txt) == "$1" ]] || fail "output changed: $(cat out.txt)"
  [[ $(cat err.txt) == "streamscope: no CUDA call of $1 was recorded, so there is no trace" ]] ||
    fail "messages: $(cat err.txt)"
  [[ ! -e none.sqlite ]] || fail "a trace of nothing"
}

tried=0
# try FLAGS...: compiles ./program, if the compiler can.
try() {
  if cc -g "$@" program.c -o program 2>/dev/null; then
    tried=$((tried + 1))
  else
    echo "skipped: the compiler does not support $*"
    return 1
  fi
}

if try -static-pie -fPIE; then unchanged ./program; fi
if try -static; then unchanged ./program; fi
if try -fsanitize=thread; then unchanged ./program; fi
if try -fsanitize=address; then
  unchanged ./program
  code=0
  ASAN_OPTIONS=exitcode=9 "$bin/streamscope" record --quiet -o none.sqlite -- ./program overflow >out.txt 2>err.txt || code=$?
  [[ $code == 9 ]] || fail "exit code $code instead of the sanitizer's 9"
  grep -q heap-buffer-overflow err.txt || fail "the sanitizer's report is missing: $(cat err.txt)"
fi

# With a driver, the stubs are preloaded; the recorder has found it without loading it.
if [[ -f $build/tests/fake/libcuda.so.1 ]]; then
  tried=$((tried + 1))
  LD_LIBRARY_PATH=$build/tests/fake "$bin/streamscope" record --quiet --tier structure -o none.sqlite -- \
    sh -c 'echo "$LD_PRELOAD"; grep -c libcuda.so "/proc/$PPID/maps"' >out.txt 2>err.txt || true
  [[ $(cat out.txt) == *libstreamscope_calls.so*$'\n0' ]] || fail "driver: $(cat out.txt err.txt)"

  # A program that waits for its records, with a driver that lacks functions which waiting for all devices needs.
  LD_LIBRARY_PATH=$build/tests/fake "$bin/streamscope" record --quiet --tier structure -o flush.sqlite -- \
    "$bin/tests/sampled" flush 100 >out.txt 2>err.txt || fail "flush: exit code $? ($(cat err.txt))"
  [[ $(cat out.txt) == 0 ]] || fail "flush: $(cat out.txt err.txt)"

  # Half an installation says so.
  cp "$build/lib/libstreamscope_inject.so" .
  record_alone() {
    LD_LIBRARY_PATH=$build/tests/fake STREAMSCOPE_INJECT=$PWD/libstreamscope_inject.so \
      "$bin/streamscope" record --tier structure -o none.sqlite "$@" -- true 2>err.txt
  }
  record_alone || true
  grep -q 'libstreamscope_calls.so is not beside .*; install all' err.txt || fail "not a word about the missing stubs: $(cat err.txt)"
  for need in "--source interposed" "--with accesses" --start-later; do
    # shellcheck disable=SC2086
    ! record_alone $need || fail "recorded without the stubs: $need"
    grep -q "install all of StreamScope, or leave out ${need% interposed}" err.txt || fail "no remedy: $(cat err.txt)"
  done
fi

((tried)) || exit 77
