#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What checks and exports write, held against the definitions that their owners publish.

    schemas.py STREAMSCOPE

$STREAMSCOPE_SCHEMAS names a folder with those that are to be used: sarif-schema-2.1.0.json (OASIS), junit-10.xsd (xUnit
plugin of Jenkins), perfetto_trace.proto (Perfetto). Exit code 77 if there is none, or nothing to check it with.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

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


def check_junit(program, traces, schema):
    if not shutil.which("xmllint"):
        return "JUnit: xmllint is not installed"
    for trace in traces:
        result = run("xmllint", "--noout", "--schema", schema, "-", input=written(program, trace, "check", "--format", "junit"))
        if result.returncode != 0:
            failures.append(f"JUnit of {trace.name}: {result.stderr.decode()[-400:]}")
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
            run(program, "demo", demo, "--device", "sim", "-o", traces[-1])
        for name, check in (("sarif-schema-2.1.0.json", check_sarif), ("junit-10.xsd", check_junit),
                            ("perfetto_trace.proto", check_perfetto)):
            if not (folder / name).exists():
                print(f"skipped: STREAMSCOPE_SCHEMAS has no {name}")
                continue
            why_not = check(program, traces, folder / name)
            if why_not:
                print(f"skipped: {why_not}")
            else:
                checked.append(name)
    for failure in failures:
        print("FAILED:", failure)
    print(f"held against {', '.join(checked) or 'nothing'}: {len(failures)} differences")
    return 1 if failures else 0 if checked else 77


if __name__ == "__main__":
    sys.exit(main())
