#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The script of the house: its verbs are listed, unknown ones refused, bench lines gathered.   dev_test.sh DEV
set -euo pipefail
dev=$1

bash -n "$dev"

help=$("$dev" help)
for verb in build demo test package release bench lint format help; do
  grep -qE "^  $verb( |\$)" <<<"$help" || { echo "help does not list '$verb'"; exit 1; }
done
[[ $("$dev") == "$help" ]] || { echo "no verb should mean help"; exit 1; }

code=0
message=$("$dev" no-such-verb 2>&1 >/dev/null) || code=$?
[[ $code == 2 && $message == *"unknown verb 'no-such-verb'"* ]] || { echo "wrong verb: $code $message"; exit 1; }

# A copy in a separate folder, with one benchmark that keeps a budget and one that misses it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/bin/bench" "$work/tools"
cp "$dev" "$work/dev"
touch "$work/build/build.ninja"
printf '#!/bin/sh\nexit 0\n' >"$work/tools/ninja"
printf '#!/bin/sh\nfor package; do printf "installed=%%s " "$package"; done\n' >"$work/tools/dpkg-query"
cat >"$work/build/bin/bench/good_bench" <<'END'
#!/bin/sh
echo "some table"
echo "budget fast_ns 12.5 ns 15 ok"
echo "rival mutex_ns 30 ns"
echo "rival spin_ns 20 ns"
echo "budget records_per_s 2e+06 1/s 1.2e+06 ok"
END
cat >"$work/build/bin/bench/bad_bench" <<'END'
#!/bin/sh
echo "budget slow_ns 99 ns 15 miss"
END
chmod +x "$work/tools/"* "$work/build/bin/bench/"*
export PATH=$work/tools:$PATH
unset STREAMSCOPE_PRESET

"$work/dev" bench good >/dev/null 2>&1 || { echo "kept budgets should exit 0"; exit 1; }
expected='[
  {"name":"fast_ns","value":12.5,"unit":"ns","limit":15,"ok":true,"rivals":[{"name":"mutex_ns","value":30,"unit":"ns"},{"name":"spin_ns","value":20,"unit":"ns"}]},
  {"name":"records_per_s","value":2e+06,"unit":"1/s","limit":1.2e+06,"ok":true,"rivals":[]}
]'
[[ $(cat "$work/build/bench.json") == "$expected" ]] || { echo "bench.json:"; cat "$work/build/bench.json"; exit 1; }

code=0
"$work/dev" bench >/dev/null 2>&1 || code=$?
[[ $code == 1 ]] || { echo "a missed budget should exit 1, not $code"; exit 1; }
[[ $(grep -c '"ok":false' "$work/build/bench.json") == 1 ]] || { echo "the miss is not in bench.json"; exit 1; }

# One check of lint alone; its failure is that of lint.
printf '#!/bin/sh\necho some.md\n' >"$work/tools/git"
printf '#!/bin/sh\nfor last; do :; done\n[ "$last" = some.md ] && [ ! -e "%s/misspelled" ]\n' "$work" >"$work/tools/codespell"
chmod +x "$work/tools/"*
"$work/dev" lint spelling >/dev/null 2>&1 || { echo "lint spelling should exit 0"; exit 1; }
touch "$work/misspelled"
code=0
message=$("$work/dev" lint spelling 2>&1) || code=$?
[[ $code == 1 && $message == *"lint: spelling FAILED"* ]] || { echo "a misspelled file: $code $message"; exit 1; }

code=0
message=$("$work/dev" bench nothing 2>&1) || code=$?
[[ $code == 2 && $message == *"no benchmark of a part 'nothing'"* ]] || { echo "unknown part: $code $message"; exit 1; }
