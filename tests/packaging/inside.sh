#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# What clean_roots.sh does inside a root file system, where /test has this folder, the consumer of tests/install and the packages.
#   inside.sh demo|window|consumers|gate PROGRAM
set -euo pipefail
streamscope=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export HOME=$work XDG_CACHE_HOME=$work/cache  # caches and settings of a user are not the packages'

fail() { echo "FAILED: $*"; exit 1; }
quietly() { "$@" >log.txt 2>&1 || fail "$* exited $? and said: $(cat log.txt)"; }
prefix=${streamscope%/bin/streamscope}

# A report that names source lines, and a picture.
demo() {
  quietly "$streamscope" demo -o demo.sqlite
  grep -q '^Iteration' log.txt || fail "no report: $(cat log.txt)"
  grep -q 'pipeline.cpp:' log.txt || fail "the report names no source line: $(cat log.txt)"
  quietly "$streamscope" view demo.sqlite --screenshot demo.png
  [[ $(head -c 4 demo.png | tail -c 3) == PNG && $(stat -c %s demo.png) -gt 20000 ]] || fail "no picture"
  echo "demo: report with source lines, picture of $(stat -c %s demo.png) bytes"
}

# A window on a display, closed by its key.
window() {
  quietly "$streamscope" demo --quiet -o demo.sqlite
  Xvfb :7 -screen 0 1600x1000x24 >/dev/null 2>&1 &
  local display=$! viewer id
  export DISPLAY=:7
  for _ in {1..100}; do xdotool getdisplaygeometry >/dev/null 2>&1 && break; sleep 0.1; done
  "$prefix/bin/streamscope-viewer" demo.sqlite --state state.json >viewer.txt 2>&1 &
  viewer=$!
  id=$(timeout 60 xdotool search --sync --onlyvisible --pid $viewer 2>/dev/null | head -1) || fail "no window: $(cat viewer.txt)"
  for _ in {1..100}; do [[ -s state.json ]] && break; sleep 0.1; done
  [[ -s state.json ]] || fail "the window shows no trace: $(cat viewer.txt)"
  xdotool windowfocus --sync "$id" key ctrl+q
  wait $viewer || fail "the viewer exited $?: $(cat viewer.txt)"
  kill $display
  echo "window: opened and closed"
}

# Programs that link what the packages install.
consumers() {
  quietly cmake -G Ninja -S /test/consumer -B consumer "-DCMAKE_PREFIX_PATH=$prefix"
  quietly cmake --build consumer
  quietly consumer/consumer
  [[ $(cat log.txt) == 42 ]] || fail "the consumer said $(cat log.txt)"
  quietly env PATH="$prefix/bin:$PATH" consumer/recorded_consumer
  for _ in {1..300}; do compgen -G 'recorded_consumer-*.sqlite' >/dev/null && ! compgen -G 'recorded_consumer-*.sqlite?*' >/dev/null && break; sleep 0.1; done
  "$streamscope" info recorded_consumer-*.sqlite >log.txt 2>&1 || fail "no trace: $(ls)"
  grep -q '2 kernels\|kernel *2' log.txt || fail "$(cat log.txt)"
  echo "consumers: built and recorded"
}

# expect CODE WHAT COMMAND...
expect() {
  local code=0
  "${@:3}" >log.txt 2>&1 || code=$?
  ((code == $1)) || fail "$2: exit code $code instead of $1: $(cat log.txt)"
  echo "gate: $2: exit code $code"
}

# build PLANTED: another version of the project
build() {
  quietly cmake -G Ninja -S . -B build "-DCMAKE_PREFIX_PATH=$prefix" "-DPLANTED=$1"
  quietly cmake --build build
}

# A repository of somebody else, whose changes pass or fail the gate: by finding, baseline, budget, assertion and base.
gate() {
  cp /test/gated/* .
  printf '%s\n' 'iteration <= 60 us' 'assert ordered("memcpy HtoD", "sum")' >budget.txt
  quietly git init
  quietly git add .
  local job=("$streamscope" gate --budget budget.txt --assert 'no_sync_in("iteration")' --assert 'max_bound("host") <= 60 %')
  build none
  expect 0 "the first version passes" "${job[@]}" -- build/steps
  [[ -s streamscope-out/summary.md && -s streamscope-out/report.html && -s streamscope-out/junit.xml ]] || fail "no results"
  mv streamscope-out/trace.sqlite base.sqlite
  expect 0 "the same version passes against it" "${job[@]}" --base base.sqlite -- build/steps
  build race
  expect 1 "a planted race" "${job[@]}" -- build/steps
  quietly "$streamscope" check streamscope-out/trace.sqlite --write-baseline baseline.json
  expect 0 "a race in the baseline" "$streamscope" gate --baseline baseline.json -- build/steps
  build sync
  expect 1 "a planted synchronization" "${job[@]}" -- build/steps
  grep -q 'no_sync_in' log.txt || fail "the assertion is not named: $(cat log.txt)"
  build slow
  expect 1 "a planted slow kernel over budget" "$streamscope" gate --budget budget.txt -- build/steps
  expect 1 "a planted slow kernel against the base" "$streamscope" gate --base base.sqlite -- build/steps
  grep -q 'regression' streamscope-out/summary.md || fail "$(cat streamscope-out/summary.md)"
}

"$1"
