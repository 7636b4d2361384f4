#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What checks and exports write, held against the definitions that their owners publish.

    schemas.py STREAMSCOPE

JUnit has no owner: junit.xsd beside this file defines what readers expect. $STREAMSCOPE_SCHEMAS names a folder with the
definitions of others that are to be used: sarif-schema-2.1.0.json (OASIS), junit-10.xsd (xUnit plugin of Jenkins),
perfetto_trace.proto (Perfetto). Exit code 77 if there is nothing to check with.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

failures = []
checked = []


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=120, **options)


def written(program, trace, *arguments):
    return run(program, *arguments[:1], trace, *arguments[1:]).stdout


def check_sarif(program, traces, schema):
    try:
        import jsonschema
    except ImportError:
        return "SARIF: the Python package jsonschema is not installed"
    schema = json.loads(schema.read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    for trace in traces:
        log = json.loads(written(program, trace, "check", "--format", "sarif"))
        failures.extend(f"SARIF of {trace.name}: {'/'.join(map(str, error.path))}: {error.message[:200]}"
                        for error in validator.iter_errors(log))
    return None


def junit_of(program, trace):
    """As a job writes it that has a budget, too: met, exceeded and not measurable."""
    budget = trace.parent / "budget.txt"
    budget.write_text("critical-path <= 1 ns\noverlap >= 0 %\nwaits-per-iteration <= 8\n")
    return written(program, trace, "check", "--format", "junit", "--budget", budget, "--iteration", "nvtx:nothing")


def junit_differences(schema, report):
    result = run("xmllint", "--noout", "--schema", schema, "-", input=report)
    if result.returncode != 0:
        return [result.stderr.decode()[-400:]]
    differences = []
    for element in ElementTree.fromstring(report).iter():
        if element.tag not in ("testsuites", "testsuite"):
            continue
        cases = list(element.iter("testcase"))
        for count, counted in (("tests", len(cases)), ("failures", sum(case.find("failure") is not None for case in cases)),
                               ("errors", sum(case.find("error") is not None for case in cases)),
                               ("skipped", sum(case.find("skipped") is not None for case in cases))):
            if element.get(count, str(counted)) != str(counted):
                differences.append(f"{element.tag} says {count} {element.get(count)} of {counted}")
    return differences


def check_junit(program, traces, schema):
    if not shutil.which("xmllint"):
        return "JUnit: xmllint is not installed"
    for trace in traces:
        failures.extend(f"JUnit of {trace.name}: {what}" for what in junit_differences(schema, junit_of(program, trace)))
    return None


def check_own_junit(program, traces, schema):
    why_not = check_junit(program, traces, schema)
    if why_not:
        return why_not
    # The rules would notice: each of these breaks one.
    report = junit_of(program, traces[0]).decode()
    for what, pattern, broken in (("an unknown element", "<failure", "<flaw"),
                                  ("no name", r'<testcase classname="\w+" name="[^"]*"', "<testcase"),
                                  ("a wrong count", 'failures="1"', 'failures="7"'), ("no count", 'errors="0"', ""),
                                  ("two results", "</failure>|(<failure[^>]*)/>", r'<skipped/>\g<0>'),
                                  ("one name twice", "SS002 host-race", "SS001 stream-race")):
        changed = re.sub(pattern, broken, report, count=1)
        if changed == report or not junit_differences(schema, changed.encode()):
            failures.append(f"JUnit: the rules do not notice {what}")
    return None


def check_perfetto(program, traces, proto):
    if not shutil.which("protoc"):
        return "Perfetto: protoc is not installed"
    for trace in traces:
        exported = written(program, trace, "export", "--to", "perfetto")
        result = run("protoc", f"--proto_path={proto.parent}", "--decode=perfetto.protos.Trace", proto, input=exported)
        text = result.stdout.decode(errors="replace")
        if result.returncode != 0:
            failures.append(f"Perfetto of {trace.name}: {result.stderr.decode()[-400:]}")
        # A field that Perfetto does not have is printed by its number.
        unknown = re.findall(r"^ *\d+(?:: | \{)", text, re.MULTILINE)
        if unknown:
            failures.append(f"Perfetto of {trace.name}: unknown fields {sorted(set(map(str.strip, unknown)))}")
        ops = int(run("sqlite3", "-readonly", trace, "select count(*) from op where end_ns is not null").stdout)
        waits = int(run("sqlite3", "-readonly", trace, "select count(*) from edge where kind = 1").stdout)
        for what, wanted, got in (("ops", ops, text.count("gpu_render_stage_event {")),
                                  ("waits", waits, text.count("event_wait_ids: ")),
                                  ("contexts of CUDA", True, "api: CUDA" in text),
                                  ("queues", True, bool(re.search(r"gpu_specifications \{\s+iid: \d+\s+name: \"stream ", text))),
                                  ("names", True, "event_names {" in text)):
            if wanted != got:
                failures.append(f"Perfetto of {trace.name}: {what}: {got} instead of {wanted}")
    return None


def main():
    program = sys.argv[1]
    folder = pathlib.Path(os.environ.get("STREAMSCOPE_SCHEMAS", "/nonexistent"))
    with tempfile.TemporaryDirectory() as scratch:
        traces = []
        for demo in ("pipeline", "race"):
            traces.append(pathlib.Path(scratch) / f"{demo}.sqlite")
            recorded = run(program, "demo", demo, "--device", "sim", "-o", traces[-1])
            if recorded.returncode != 0:
                failures.append(f"demo {demo}: {recorded.stderr.decode()[-400:]}")
        own = pathlib.Path(__file__).parent / "junit.xsd"
        for schema, check in ((own, check_own_junit), (folder / "sarif-schema-2.1.0.json", check_sarif),
                              (folder / "junit-10.xsd", check_junit), (folder / "perfetto_trace.proto", check_perfetto)):
            if not schema.exists():
                print(f"skipped: STREAMSCOPE_SCHEMAS has no {schema.name}")
                continue
            why_not = check(program, traces, schema)
            if why_not:
                print(f"skipped: {why_not}")
            else:
                checked.append(schema.name)
    for failure in failures:
        print("FAILED:", failure)
    print(f"held against {', '.join(checked) or 'nothing'}: {len(failures)} differences")
    return 1 if failures else 0 if checked else 77


if __name__ == "__main__":
    sys.exit(main())
