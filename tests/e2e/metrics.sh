#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Metrics of recordings: as text, as a file that is replaced, and over HTTP, where a Prometheus of the test's own scrapes them and
# answers every query of the dashboard.
root=$(cd "$(dirname "$0")/../.." && pwd)
services=$root/docs/services
source "$(dirname "$0")/lib.sh" "$1"
for variable in RANK WORLD_SIZE LOCAL_RANK "${!OMPI_@}" "${!PMI@}" "${!SLURM_@}"; do unset "$variable"; done
for tool in curl jq promtool prometheus; do
  command -v $tool >/dev/null || { echo "SKIPPED: $tool is not installed"; exit 77; }
done

started=()
end() {
  local process
  for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${started[@]}"; do wait "$process" 2>/dev/null || true; done
  started=()
}
trap 'end; rm -rf "$work"' EXIT

# value FILE SERIES: of the first sample whose name and labels match a pattern
value() { grep -Em1 "^$2" "$1" | sed 's/.* //'; }

# expect_status STATUS CURL_ARGUMENT...
expect_status() {
  local expected=$1 got
  shift
  got=$(curl -s -m 10 -o body -w '%{http_code}' "$@") || true
  [[ $got == "$expected" ]] || fail "curl $*: status $got instead of $expected: $(cat body)"
}

# expect_error PATTERN ARGUMENT...: `metrics` refuses them with code 2
expect_error() {
  local pattern=$1 code=0
  shift
  timeout 20 "$bin/streamscope" metrics "$@" >out 2>said || code=$?
  [[ $code == 2 ]] && grep -q "$pattern" said || fail "metrics $* exits $code: $(cat said)"
}

for rank in 0 1; do
  RANK=$rank WORLD_SIZE=2 STREAMSCOPE_JOB=1 "$bin/streamscope" record --quiet --run run -- "$bin/examples/pipeline" >/dev/null 2>said ||
    fail "rank $rank: $(cat said)"
done

# As text: well formed, and the same numbers as in the report.
"$bin/streamscope" metrics run/rank-00001.sqlite >one.prom || fail "metrics of a trace exits $?"
promtool check metrics <one.prom >said 2>&1 || fail "promtool: $(cat said)"
"$bin/streamscope" report run/rank-00001.sqlite --format json >report.json
[[ $(value one.prom streamscope_iteration_seconds_count) == "$(jq .iteration.count report.json)" ]] ||
  fail "iterations: $(value one.prom streamscope_iteration_seconds_count), report: $(jq -c .iteration report.json)"
grep -q '^streamscope_iteration_bound{.*rank="1",by="kernels"} 1$' one.prom || fail "bound: $(grep bound one.prom)"
"$bin/streamscope" metrics run >run.prom || fail "metrics of a run exits $?"
promtool check metrics <run.prom >said 2>&1 || fail "promtool: $(cat said)"
[[ $(grep -c '^streamscope_recording_finished{.*} 1$' run.prom) == 2 && $(value run.prom 'streamscope_processes ') == 2 ]] || fail "$(cat run.prom)"
"$bin/streamscope" metrics --max-processes 1 run >run.prom
[[ $(grep -c '^streamscope_recording_finished{' run.prom) == 1 && $(value run.prom streamscope_processes_left_out) == 1 ]] ||
  fail "--max-processes 1: $(grep processes run.prom)"

# As a file, which readers see whole.
echo old >node.prom
"$bin/streamscope" metrics -o node.prom run && promtool check metrics <node.prom >/dev/null || fail "no file"
[[ -z $(find . -maxdepth 1 -name '*.part') ]] || fail "left behind: $(ls -A)"
expect_error 'does not end in .prom' -o run/rank-00000.sqlite run
expect_error 'is neither a trace nor a folder' nowhere
echo no trace >broken.sqlite
code=0
"$bin/streamscope" metrics broken.sqlite -o broken.prom 2>said || code=$?
[[ $code == 2 && ! -e broken.prom && -s said ]] || fail "broken.sqlite exits $code: $(cat said)"
code=0
"$bin/streamscope" metrics broken.sqlite run >broken.prom 2>said || code=$?
[[ $code == 2 && $(value broken.prom 'streamscope_processes ') == 2 && $(value broken.prom streamscope_traces_unreadable) == 1 ]] ||
  fail "broken.sqlite and run exit $code: $(cat said)"

# After a job of Slurm.
mkdir spool textfiles
cp -r run spool/42
(
  export PATH=$bin:$PATH STREAMSCOPE_RUNS=$work/spool STREAMSCOPE_PROM=$work/textfiles
  SLURM_JOB_ID=41 "$services/slurm-epilog.sh" && SLURM_JOB_ID=42 "$services/slurm-epilog.sh"
) || fail "the epilog exits $?"
[[ $(ls textfiles) == streamscope-42.prom ]] && promtool check metrics <textfiles/streamscope-42.prom >/dev/null || fail "epilog: $(ls textfiles)"

# Over HTTP, of recordings that come and grow.
expect_error 'is reachable from other machines' run --listen 0.0.0.0:0
expect_error 'works only with --listen' run --allow-remote
expect_error 'does not work with -o' run --listen 127.0.0.1:0 -o x.prom
mkdir live
"$bin/streamscope" metrics live run --listen 127.0.0.1:0 --interval 0.5 >url 2>said &
started+=($!)
wait_until 20 test -s url || fail "no address: $(cat said)"
url=$(cat url)
scraped() { curl -s -m 10 -o page "$url" && grep -Eq "$1" page; }
wait_until 60 scraped '^streamscope_processes 2$' || fail "not analyzed: $(cat page said)"
expect_status 200 "$url"
expect_status 403 -H 'Host: evil.example' "$url"
expect_status 403 -H 'Origin: http://evil.example' "$url"
expect_status 404 "${url%/metrics}/other"
expect_status 405 -X POST "$url"
"$bin/streamscope" record --quiet -o live/late.sqlite -- "$worker" forever >live.out 2>live.err &
recorder=$!
started+=("$recorder")
wait_until 60 scraped '^streamscope_recording_finished\{run="live".*\} 0$' || fail "a recording that runs is not seen: $(cat page said live.err)"
recorded() { value page 'streamscope_recording_seconds\{run="live".*'; }
first=$(recorded)
grown() { scraped . && [[ $(recorded) != "$first" ]]; }
wait_until 60 grown || fail "the metrics of a recording that runs do not change: $first s"
"$bin/streamscope" metrics live/late.sqlite.rings >rings.prom || fail "metrics of rings exits $?"
[[ $(value rings.prom streamscope_recording_finished) == 0 ]] || fail "rings: $(cat rings.prom)"
kill "$(pgrep -P "$recorder")"
wait "$recorder" || true
wait_until 60 scraped '^streamscope_process_state\{run="live".*,state="died"\} 1$' || fail "its end is not seen: $(grep live page)"
rm live/late.sqlite
wait_until 60 scraped '^streamscope_processes 2$' || fail "a removed recording stays: $(cat page)"

printf 'secret-of-the-test\n' >token
cp "$root/traces/never_recorded.sqlite" .  # has findings
"$bin/streamscope" metrics never_recorded.sqlite --listen 127.0.0.1:0 --token-file token >private 2>said &
started+=($!)
wait_until 20 test -s private || fail "no address: $(cat said)"
expect_status 401 "$(cat private)"
expect_status 200 -H 'Authorization: Bearer secret-of-the-test' "$(cat private)"

# Prometheus scrapes both, and answers what the dashboard asks.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >prometheus.yml <<END
global: {scrape_interval: 1s}
scrape_configs:
  - {job_name: open, static_configs: [{targets: ["$(cut -d/ -f3 url)"]}]}
  - {job_name: private, authorization: {credentials: secret-of-the-test}, static_configs: [{targets: ["$(cut -d/ -f3 private)"]}]}
END
promtool check config prometheus.yml >said 2>&1 || fail "prometheus.yml: $(cat said)"
prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 &
started+=($!)
ask() { curl -s -m 10 --data-urlencode "query=$1" "http://127.0.0.1:$port/api/v1/query"; }
answers() { [[ $(ask "$1" | jq '.status == "success" and (.data.result | length > 0)' 2>/dev/null) == true ]]; }
wait_until 60 answers 'count(up == 1) == 2' || fail "Prometheus scrapes nothing: $(ask up) $(tail -5 prometheus.log)"
queries=0
while IFS= read -r query; do
  query=${query//\$__rate_interval/10s}
  query=${query//\$run/.*}
  wait_until 30 answers "$query" || fail "no data: $query: $(ask "$query")"
  queries=$((queries + 1))
done < <(jq -r '.panels[].targets[].expr' "$services/grafana-dashboard.json")
((queries >= 15)) || fail "the dashboard has only $queries queries"
echo "$queries queries of the dashboard have data"
[[ $(ask 'count(streamscope_iteration_seconds{job="open",quantile="0.5",run="run"})' | jq -r '.data.result[0].value[1]') == 2 ]] ||
  fail "ranks: $(ask streamscope_iteration_seconds)"
end
expect_nobody
