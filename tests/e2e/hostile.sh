#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Files made to do harm: names that are markup, terminal escapes, formulas or paths, rows that refer to each other in
# cycles, files that claim to be huge. Every command ends by itself, prints what it does in plain text and writes
# only where it was asked to.
source "$(dirname "$0")/lib.sh" "$1"

mkdir inside outside
cd inside
escape=$(printf '\033')

# run CODES COMMAND...: ends within a minute and 2 GiB with one of these exit codes; an error is one line.
run() {
  local codes=$1 code=0
  shift
  (ulimit -v 4194304; exec timeout 60 "$bin/streamscope" "$@") >out.txt 2>err.txt || code=$?
  [[ " $codes " == *" $code "* ]] || fail "$*: exit code $code instead of $codes: $(head -c 400 err.txt)"
  if ((code == 2)) && [[ $(wc -l <err.txt) != 1 ]]; then fail "$*: not one line: $(head -c 400 err.txt)"; fi
  if grep -q "$escape" out.txt err.txt; then fail "$*: a name steers the terminal"; fi
}

# everything TRACE: what people do with a trace they were given.
everything() {
  local trace=$1 format markup
  run "0" info "$trace"
  run "0" info --json "$trace"
  run "0" analyze "$trace"
  for format in text markdown json html; do
    run "0" report "$trace" --format $format -o report.$format
    case $format in
      html) markup='<img|<script>alert|href="javascript:' ;;
      markdown) markup='<img|<script|[^\\]\]\(javascript:' ;;
      *) markup='^no name is markup here$' ;;
    esac
    if grep -qiE "$markup" report.$format; then fail "$format: a name became markup"; fi
    if grep -q "$escape" report.$format; then fail "report --format $format holds an escape sequence"; fi
  done
  for format in text json sarif junit github markdown; do run "0 1 3" check "$trace" --format $format; done
  for format in chrome chakra perfetto dot csv; do run "0 2" export "$trace" --to $format -o out.$format; done
  run "0 1 2" diff "$trace" "$trace"
  run "0" query "$trace" "select * from v_op limit 5"
}

bad='</script><script>alert(1)</script><img src=x onerror=alert(2)>|`x`[a](javascript:b)'
cat >names.json <<END
{"traceEvents": [
 {"ph":"M","name":"process_name","pid":10,"tid":0,"args":{"name":"../../../outside/$bad\u001b[31m\u001b]0;title\u0007"}},
 {"ph":"M","name":"thread_name","pid":10,"tid":1,"args":{"name":"=cmd|'/c calc'!A1\u001b[2J"}},
 {"ph":"X","cat":"user_annotation","name":"../../outside/range $bad","pid":10,"tid":1,"ts":1,"dur":50},
 {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":1,"ts":10,"dur":2,"args":{"correlation":1}},
 {"ph":"X","cat":"kernel","name":"$bad\u001b[31m\r\nrm -rf","pid":0,"tid":7,"ts":15,"dur":5,"args":{"device":0,"context":1,"stream":7,"correlation":1}},
 {"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":10,"tid":1,"ts":30,"dur":9,"args":{"correlation":2}}]}
END
run "0" import names.json -o names.sqlite
everything names.sqlite

# A file's own name is a name too.
cp names.json "$(printf 'a\033[31m<img>.json')"
run "0" import "$(printf 'a\033[31m<img>.json')" -o other.sqlite
run "2" import "$(printf 'missing\033[31m\n.json')"

# Rows that refer to themselves and to each other; then rows that refer to nothing.
"$bin/streamscope" demo pipeline --device sim -o circles.sqlite >/dev/null 2>&1 || fail "demo pipeline exited $?"
sqlite3 circles.sqlite <<'END'
update operation set parent_operation_id = (id + 1) % (select count(*) from operation);
insert into operation_dependency (id, operation_id, depends_on_operation_id) select max(id) + 1, 0, (select max(id) from operation) from operation_dependency;
insert into operation_dependency (id, operation_id, depends_on_operation_id) select max(id) + 1, (select max(id) from operation), 0 from operation_dependency;
insert into edge (id, from_op_id, to_op_id, kind) select (select max(id) from edge) + 1 + id, to_op_id, from_op_id, kind from edge;
update event_wait set record_id = (select max(id) from event_record) - record_id;
END
cp circles.sqlite nowhere.sqlite
everything circles.sqlite
sqlite3 nowhere.sqlite 'update op set stream_id = 77777 where id % 7 = 3; update context set device_id = 99'
for command in info report check; do run "2" $command nowhere.sqlite; done

# Foreign keys in a circle, and a trigger and a view that would never end.
sqlite3 keys.sqlite <<END
create table StringIds(id integer primary key references PROCESSES(pid), value text);
create table PROCESSES(globalPid, pid integer primary key references StringIds(id), name);
create table CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId references StringIds(id), returnValue);
create view NVTX_EVENTS as with recursive n(start) as (select 1 union all select start + 1 from n) select start from n;
insert into StringIds values (1, 'cudaLaunchKernel_v7000'), (2, '$bad');
insert into PROCESSES values (281474976710656, 1, '../../outside/$bad'), (281474993487872, 2, '2');
insert into CUPTI_ACTIVITY_KIND_RUNTIME values (1, 2, 281474976710657, 1, 1, 0), (3, 4, 281474993487873, 2, 99, 0);
END
run "0" import keys.sqlite -o from_keys.sqlite
everything from_keys.sqlite

# 100 GiB that are not there: JSON, an export, a trace, a budget file, a baseline.
printf '{"traceEvents": [' >huge.json
cp keys.sqlite huge.sqlite
cp names.sqlite huge_trace.sqlite
for file in huge.json huge.sqlite huge_trace.sqlite huge.txt; do truncate -s 100G $file; done
run "0 2" import huge.json -o from_huge.sqlite
run "0 2" import huge.sqlite -o from_huge.sqlite --force
run "0 1 2 3" info huge_trace.sqlite
run "2" check names.sqlite --budget huge.txt
run "2" check names.sqlite --baseline huge.txt

[[ -z $(ls ../outside) ]] || fail "something was written outside: $(ls ../outside)"
echo "passed"
