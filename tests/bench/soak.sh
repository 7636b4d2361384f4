#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# A flight recorder over a program that makes records as fast as it can, with CUPTI as a stand-in: memory of the recorder
# and disk space must not grow.   soak.sh BUILD [SECONDS]
source "$(dirname "$0")/../e2e/lib.sh" "$1"
seconds=${2:-600}

"$bin/streamscope" record --flight-recorder 8 --hang-timeout 0 -o soak.sqlite -- \
  "$bin/tests/collect_child" hang soak "$seconds" >soak.txt 2>soak.err &
launcher=$!
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$launcher/status"; }
sleep $((seconds > 20 ? 5 : 1))
first_memory=$(resident)
first_disk=$(du -sk . | cut -f1)
most_memory=$first_memory most_disk=$first_disk
while kill -0 "$launcher" 2>/dev/null && [[ ! -s soak.txt ]]; do
  sleep 1
  memory=$(resident) || break
  disk=$(du -sk . | cut -f1)
  ((memory > most_memory)) && most_memory=$memory
  ((disk > most_disk)) && most_disk=$disk
done
wait "$launcher" || fail "exit code $?: $(cat soak.err)"
rate=$(($(cat soak.txt) / seconds))
echo "records_per_s $rate, recorder $first_memory -> $most_memory KiB, disk $first_disk -> $most_disk KiB"
((rate >= 100000)) || fail "only $rate records a second"
((most_memory < first_memory + 16384)) || fail "the recorder's memory grew"
((most_disk < 2 * first_disk + 16384)) || fail "the disk usage grew"
