#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The two ways to a browser, with a small page in place of the viewer's: `report --format app` puts a trace into the page,
# `view --serve` serves it. What the page gets is the file; who has no token, or asks for anything else, gets nothing.
large=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../traces" && pwd)/torch_streams.sqlite  # has an overview
source "$(dirname "$0")/lib.sh" "$1"
command -v curl >/dev/null || { echo "skipped: no curl"; exit 77; }

export STREAMSCOPE_WEB_VIEWER=$PWD/page.html
cat >page.html <<'PAGE'
<!doctype html>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src 'none'">
<!-- streamscope: traces -->
<p>end
PAGE
"$bin/streamscope" demo pipeline --device sim --quiet -o plain.sqlite >/dev/null 2>&1 || fail "the demo exited $?"
hostile='"><script>alert(1)<script>&.sqlite'
cp plain.sqlite "$hostile"

# --format app
for trace in plain.sqlite "$hostile"; do
  "$bin/streamscope" report "$trace" --format app -o app.html 2>said.txt || fail "report --format app exited $?: $(<said.txt)"
  grep -q "wrote app.html" said.txt || fail "no size was said: $(<said.txt)"
  python3 - app.html "$trace" <<'CHECK' || fail "the page of $trace has another trace"
import base64, gzip, sys
from html.parser import HTMLParser
found, inside = [], []
class Page(HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag == "script":
            found.append(dict(attrs))
    def handle_data(self, data):
        if self.lasttag == "script" and len(found) > len(inside):
            inside.append(data)
Page().feed(open(sys.argv[1], errors="surrogateescape").read())
[script], [text] = found, inside
content = gzip.decompress(base64.b64decode(text))
sys.exit(not (content == open(sys.argv[2], "rb").read() and int(script["data-bytes"]) == len(content)
              and script["data-name"] == sys.argv[2] and script["type"] == "application/vnd.streamscope.trace"))
CHECK
done
"$bin/streamscope" report plain.sqlite --format app --range 40%:60% -o part.html 2>said.txt || fail "a part: $(<said.txt)"
grep -q 'data-part="' part.html || fail "the page does not say that it has a part"
code=0
"$bin/streamscope" report plain.sqlite --format app --max-mb 0.001 -o small.html 2>said.txt || code=$?
((code == 2)) && grep -q -- "--range" said.txt && [[ ! -e small.html ]] || fail "a page beyond --max-mb: exit $code, $(<said.txt)"
# A trace with an overview.
"$bin/streamscope" report "$large" --format app --max-mb 0.06 -o overview.html 2>said.txt || fail "an overview: $(<said.txt)"
grep -q 'data-overview>' overview.html && (($(stat -c %s overview.html) <= 60000)) || fail "no overview: $(stat -c %s overview.html) bytes"
grep -q "reduced to an overview.*--range" said.txt || fail "the overview is not said: $(<said.txt)"
"$bin/streamscope" report "$large" --format app --quiet -o whole.html && ! grep -q 'data-overview>' whole.html || fail "a page that may be large is reduced"
code=0
"$bin/streamscope" report "$large" --format app --max-mb 0.001 -o small.html 2>said.txt || code=$?
((code == 2)) && [[ ! -e small.html ]] || fail "an overview beyond --max-mb: exit $code, $(<said.txt)"
code=0
STREAMSCOPE_WEB_VIEWER=absent.html "$bin/streamscope" report plain.sqlite --format app -o x.html 2>said.txt || code=$?
((code == 2)) && grep -q "absent.html" said.txt || fail "without the page: exit $code, $(<said.txt)"

# --serve
program=$(head -c 10000 /dev/urandom | gzip -n | base64 -w 0)
echo "<script type=\"application/gzip\" id=\"code\">$program</script>" >>page.html
"$bin/streamscope" view --serve plain.sqlite "$hostile" >address.txt 2>said.txt &
server=$!
companions+=("$server")
for _ in {1..100}; do [[ -s address.txt ]] && break; sleep 0.05; done
address=$(<address.txt)
[[ $address =~ ^http://127.0.0.1:([0-9]+)/[0-9a-zA-Z_-]{16,}/$ ]] || fail "address: $address, $(<said.txt)"
root=http://127.0.0.1:${BASH_REMATCH[1]}
status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
expect() { [[ $1 == "$2" ]] || fail "$3: status $1 instead of $2"; }

curl -s -D headers.txt "$address" >served.html
grep -q "connect-src 'self'" served.html || fail "the page may not fetch its traces"
(($(grep -o 'data-url="trace/' served.html | wc -l) == 2)) || fail "the page does not name both traces"
for header in "Content-Security-Policy: default-src 'none'" "Cross-Origin-Opener-Policy: same-origin" "Cross-Origin-Embedder-Policy: require-corp" \
  "X-Content-Type-Options: nosniff" "Referrer-Policy: no-referrer" "Cache-Control: no-store"; do
  grep -qi "^$header" headers.txt || fail "lacks the header $header: $(<headers.txt)"
done
grep -q 'id="code" data-url="code"></script>' served.html && ! grep -q "${program:0:100}" served.html || fail "the page has its program inside"
curl -s "${address}code" | cmp - <(base64 -d <<<"$program") || fail "the program differs"
curl -s "${address}trace/0" | cmp - plain.sqlite || fail "the first trace differs"
curl -s "${address}trace/1" | cmp - "$hostile" || fail "the second trace differs"
curl -s -r 100-299 "${address}trace/0" | cmp - <(tail -c +101 plain.sqlite | head -c 200) || fail "a range differs"
expect "$(status -r 100-299 "${address}trace/0")" 206 "a range"
expect "$(status -r 999999999- "${address}trace/0")" 416 "a range behind the end"

for path in "$root/" "$root/trace/0" "$root/wrong/trace/0" "${address}trace/2" "${address}trace/00" "${address}trace/-1" "${address}plain.sqlite"; do
  code=$(status "$path")
  [[ $code == 40[134] ]] || fail "$path: status $code"
done
for path in "../../../etc/passwd" "trace/../../../../etc/passwd" "trace/0/../../plain.sqlite" "%2e%2e/%2e%2e/etc/passwd"; do
  expect "$(status --path-as-is "$address$path")" 404 "$path"
done
expect "$(status -H 'Host: evil.example' "$address")" 404 "another host"
expect "$(status -H 'Origin: http://evil.example' "${address}trace/0")" 404 "another site"
code=$(status -X POST -d x "$address")
[[ $code == 40[45] ]] || fail "POST: status $code"

# Clients that go away, and many requests.
resident() { awk '/^VmRSS/ {print $2}' "/proc/$server/status"; }
descriptors() { ls "/proc/$server/fd" | wc -l; }
curl -s "${address}trace/0" >/dev/null
memory=$(resident) files=$(descriptors)
for _ in {1..20}; do curl -s --max-time 0.01 --limit-rate 1k "${address}trace/0" >/dev/null || true; done
for _ in {1..10}; do
  arguments=()
  for _ in {1..100}; do arguments+=(-o /dev/null "${address}trace/0"); done
  curl -s "${arguments[@]}" || fail "one of many requests failed"
done
for _ in {1..100}; do (($(descriptors) <= files)) && break; sleep 0.05; done
(($(descriptors) <= files)) || fail "descriptors grew from $files to $(descriptors)"
(($(resident) <= memory + 8192)) || fail "memory grew from $memory to $(resident) KiB"

# Two runs whose folders have the same name are two.
mkdir -p {one,other}/run
cp plain.sqlite one/run/rank-0.sqlite
cp plain.sqlite other/run/rank-0.sqlite
"$bin/streamscope" view --serve one/run other/run >runs.txt 2>said.txt &
companions+=($!)
for _ in {1..100}; do [[ -s runs.txt ]] && break; sleep 0.05; done
curl -s "$(<runs.txt)" >runs.html
grep -q 'data-run="run" data-url="trace/0"' runs.html && grep -q 'data-run="run (2)" data-url="trace/1"' runs.html || fail "runs are mixed: $(grep -o 'data-run[^>]*' runs.html)"

# Installed with a page for servers, it serves that, and the other one below plain/, each with its program.
mkdir -p installed/bin installed/share/streamscope
cp "$bin/streamscope" installed/bin
for name in viewer viewer-threads; do
  sed "s/<p>end/<p>$name/" page.html | sed '/id="code"/d' >"installed/share/streamscope/$name.html"
  echo "<script type=\"application/gzip\" id=\"code\">$(gzip -n <<<"$name" | base64 -w 0)</script>" >>"installed/share/streamscope/$name.html"
done
env -u STREAMSCOPE_WEB_VIEWER installed/bin/streamscope view --serve plain.sqlite >installed.txt 2>said.txt &
companions+=($!)
for _ in {1..100}; do [[ -s installed.txt ]] && break; sleep 0.05; done
installed=$(<installed.txt)
for page in viewer-threads=$installed "viewer=${installed}plain/"; do
  grep -q "^<p>${page%%=*}$" <<<"$(curl -s "${page#*=}")" || fail "${page#*=} is not the page ${page%%=*}: $(<said.txt)"
  [[ $(curl -s "${page#*=}code" | zcat) == "${page%%=*}" ]] || fail "${page%%=*} has another program"
  curl -s "${page#*=}trace/0" | cmp - plain.sqlite || fail "${page%%=*} has another trace"
done
expect "$(status "${installed}plain")" 404 "plain as a file"
expect "$(status "${installed}plain/plain/")" 404 "plain twice"

kill -TERM $server
code=0
wait $server || code=$?
((code == 0 || code == 143)) || fail "ended with $code when asked to"
[[ $(status "$address") == 000 ]] || fail "still serves"
echo "passed"
