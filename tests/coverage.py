#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Prints the covered lines of each part, and writes those of each file to BUILD/coverage.csv.

  tests/coverage.py ROOT BUILD

Sums what gcov reports: a line counts once, however many objects contain it (headers, templates), and is covered if one of
them ran it. gcovr refuses functions that have the same name on several lines, as lambdas in templates have.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

PARTS = ("libcoord", "profiler", "viewer")
LEFT_OUT = ("libcoord/examples/",)


def reports(notes):
    """What gcov reports of an object, given its notes (.gcno); nothing ran if it has no counts (.gcda)."""
    run = subprocess.run(["gcov", "--json-format", "--stdout", str(notes)], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True)
    return [json.loads(line) for line in run.stdout.splitlines() if line]


def add(report, root, covered):
    """Adds a report to `covered`: by file of the parts, by line, whether it ran."""
    for file in report["files"]:
        path = os.path.normpath(os.path.join(report["current_working_directory"], file["file"]))
        name = os.path.relpath(path, root)
        if not name.startswith(tuple(part + "/" for part in PARTS)) or name.startswith(LEFT_OUT):
            continue
        lines = covered[name]
        for line in file["lines"]:
            lines[line["line_number"]] |= line["count"] > 0


def main(root, build):
    covered = collections.defaultdict(lambda: collections.defaultdict(bool))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for of_object in pool.map(reports, sorted(build.rglob("*.gcno"))):
            for report in of_object:
                add(report, root, covered)
    with open(build / "coverage.csv", "w", encoding="utf-8") as out:
        out.write("file,lines,covered\n")
        for name, lines in sorted(covered.items()):
            out.write(f"{name},{len(lines)},{sum(lines.values())}\n")
    for part in PARTS:
        of_part = [lines for name, lines in covered.items() if name.startswith(part + "/")]
        total = sum(len(lines) for lines in of_part)
        ran = sum(sum(lines.values()) for lines in of_part)
        print(f"coverage {part:<9} {100 * ran / max(total, 1):5.1f} % of {total} lines")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
