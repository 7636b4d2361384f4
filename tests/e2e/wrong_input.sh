#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Wrong input gives one clear line, exit code 2, and overwrites nothing.
source "$(dirname "$0")/lib.sh" "$1"

# refuse WORDS COMMAND...: exit code 2 and one line on standard error that contains WORDS
refuse() {
  local words=$1 code=0
  shift
  "$@" >refuse.out 2>refuse.err || code=$?
  [[ $code == 2 ]] || fail "exit code $code instead of 2: $* ($(cat refuse.err))"
  [[ $(grep -c . refuse.err) == 1 ]] || fail "not one line: $* ($(cat refuse.err))"
  grep -qF -- "$words" refuse.err || fail "'$words' is not in: $(cat refuse.err)"
  [[ ! -s refuse.out ]] || fail "output of a refused command: $* ($(cat refuse.out))"
}

"$bin/streamscope" record -o good.sqlite -- "$worker" count 200 >/dev/null
cp good.sqlite keep.sqlite

refuse no-such-program "$bin/streamscope" record -o none.sqlite -- ./no-such-program
[[ ! -e none.sqlite && ! -e none.sqlite.rings ]] || fail "files of a program that never ran: $(ls)"
refuse good.sqlite "$bin/streamscope" record -o good.sqlite -- "$worker" count 1
cmp good.sqlite keep.sqlite || fail "an existing trace was touched"
"$bin/streamscope" record --force -o good.sqlite -- "$worker" count 200 >/dev/null || fail "--force should replace a file"
refuse '--tier times' "$bin/streamscope" record --flight-recorder 1 --tier times -o none.sqlite -- touch ran
mkdir directory
refuse directory "$bin/streamscope" record --force -o directory -- touch ran
refuse no-such-folder/x.sqlite: "$bin/streamscope" record -o no-such-folder/x.sqlite -- "$worker" count 1

[[ ! -e ran && ! -e directory.rings ]] || fail "a refused recording left $(ls)"

: >empty.sqlite
echo "this is not a database, whatever its name says, and long enough to be looked at" >text.sqlite
sqlite3 foreign.sqlite 'create table t(x)'
head -c 20000 good.sqlite >truncated.sqlite
cp good.sqlite newer.sqlite
sqlite3 newer.sqlite 'pragma user_version = 999'
mkdir folder.sqlite
for command in info report 'query @ select(1)' 'view @ --screenshot never.png'; do
  for file in missing empty text foreign truncated newer folder; do
    if [[ $command == *@* ]]; then
      arguments=${command/@/$file.sqlite}
    else
      arguments="$command $file.sqlite"
    fi
    # shellcheck disable=SC2086  # split into words on purpose
    refuse "$file.sqlite" "$bin/streamscope" $arguments
  done
done
refuse 999 "$bin/streamscope" info newer.sqlite
[[ ! -e missing.sqlite ]] || fail "reading made a file"
[[ ! -s empty.sqlite ]] || fail "reading wrote into an empty file"
[[ ! -e never.png ]] || fail "a picture of nothing"
