#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Sources that are compiled together in a unity build compile alone, too: those that the last commits changed, as compiling all of them takes
minutes (`./dev test` with the preset dev does it).

  alone_test.py ROOT BUILD COMPILER [SOURCE ...]

Without SOURCE, at most LIMIT sources of the last COMMITS commits and of the working tree. Exit code 1 if one does not compile, 77 if the
build compiles every source alone or if ROOT has no history.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

COMMITS, LIMIT = 5, 8
PARTS = ("libcoord/", "profiler/", "viewer/", "tests/")


def changed(root):
    """Sources that changed recently, the newest change first; None without a history."""
    git = ["git", "-C", str(root)]
    listed = [subprocess.run([*git, *words], capture_output=True, text=True, check=False)
              for words in (["diff", "--name-only", "HEAD"], ["log", f"-{COMMITS}", "--name-only", "--format="])]
    if any(run.returncode != 0 for run in listed):
        return None
    names = dict.fromkeys("".join(run.stdout for run in listed).split())
    return [root / name for name in names if name.startswith(PARTS) and name.endswith(".cpp") and (root / name).exists()][:LIMIT]


def united(build):
    """By source, the command of the unity source that includes it."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "/Unity/" in entry["file"]:
            for included in re.findall(r'^#include "(.*)"$', pathlib.Path(entry["file"]).read_text(), re.MULTILINE):
                commands[pathlib.Path(included)] = entry
    return commands


def compiles(source, entry, compiler):
    words = shlex.split(entry["command"])
    words = words[words.index(compiler):words.index("-o")] + ["-fsyntax-only", str(source)]
    run = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(f"{source} does not compile alone: a source includes what it uses\n{run.stderr}")
    return run.returncode == 0


def main():
    root, build, compiler = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    commands = united(build)
    if not commands:
        print("skipped: this build compiles every source alone")
        return 77
    sources = [pathlib.Path(name).resolve() for name in sys.argv[4:]] or changed(root)
    if sources is None:
        print(f"skipped: {root} has no history")
        return 77
    known = [source for source in sources if source in commands]
    print(f"{len(known)} sources")
    return 0 if all([compiles(source, commands[source], compiler) for source in known]) else 1


if __name__ == "__main__":
    os.environ.pop("GIT_DIR", None)
    sys.exit(main())
