#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Several processes of one run land in one trace; a fork without exec disturbs nothing.
source "$(dirname "$0")/lib.sh" "$1"

"$bin/streamscope" record -o spawn.sqlite -- "$worker" spawn 40 >out.json
expect_counts spawn.sqlite out.json
expect_complete spawn.sqlite 1
expect_one_file spawn.sqlite
[[ $(field info.json counts.process) == 2 ]] || fail "$(field info.json counts.process) processes instead of 2"
pairs=$(sql spawn.sqlite 'select count(*) from event_wait w join event_record r on r.id = w.record_id
                          join thread a on a.id = w.thread_id join thread b on b.id = r.thread_id
                          where a.process_id <> b.process_id')
[[ $pairs == 0 ]] || fail "$pairs waits are bound to records of another process"

"$bin/streamscope" record -o fork.sqlite -- "$worker" fork 40 >out.json
expect_counts fork.sqlite out.json
expect_complete fork.sqlite 1
expect_one_file fork.sqlite
