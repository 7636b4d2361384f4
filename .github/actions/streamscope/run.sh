#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The step of action.yml, which passes each input as a variable of the same name. ARCHIVE is unpacked into $RUNNER_TEMP.
set -euo pipefail

if [[ -n $ARCHIVE ]]; then
  file=$ARCHIVE
  if [[ $ARCHIVE == http*://* ]]; then
    file=$RUNNER_TEMP/${ARCHIVE##*/}
    curl --fail --location --silent --show-error --output "$file" "$ARCHIVE"
  fi
  mkdir -p "$RUNNER_TEMP/streamscope"
  tar --extract --file "$file" --strip-components 1 --directory "$RUNNER_TEMP/streamscope"
  STREAMSCOPE=$RUNNER_TEMP/streamscope/bin/streamscope
fi

options=(--fail-on "$FAIL_ON")
# add OPTION VALUES: the option once for each line of the input, so not at all for an empty one.
add() {
  local value
  while IFS= read -r value; do
    [[ -z $value ]] || options+=("$1" "$value")
  done <<<"$2"
}
add --baseline "$BASELINE"
add --budget "$BUDGET"
add --iteration "$ITERATION"
add --assert "$ASSERT"
add --base "$BASE"
add --base-run "$BASE_RUN"
[[ -z $BASE ]] || add --max-slowdown "$MAX_SLOWDOWN"
exec "$STREAMSCOPE" gate -o streamscope-out "${options[@]}" -- bash -c "$RUN"
