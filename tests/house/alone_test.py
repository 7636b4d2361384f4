#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What a unity build leaves out compiles, too: each source alone, each public header of libcoord alone, and test programs for a GPU where
there is none. Those that the last commits changed, as compiling all of them takes minutes (`./dev test` with the preset dev does it).

  alone_test.py ROOT BUILD COMPILER [SOURCE ...]

Without SOURCE, at most LIMIT sources and headers of the last COMMITS commits and of the working tree, with two of the programs that
include a changed header by name. Exit code 1 if one does not compile, 77 if the build compiles every source alone or if ROOT has no
history.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

COMMITS, LIMIT = 5, 8
PARTS = ("libcoord/", "profiler/", "viewer/", "tests/")
PUBLIC = "libcoord/include/coord/"


def changed(root):
    """Sources that changed recently, the newest change first; None without a history."""
    git = ["git", "-C", str(root)]
    listed = [subprocess.run([*git, *words], capture_output=True, text=True, check=False)
              for words in (["diff", "--name-only", "HEAD"], ["log", f"-{COMMITS}", "--name-only", "--format="])]
    if any(run.returncode != 0 for run in listed):
        return None
    names = [name for name in dict.fromkeys("".join(run.stdout for run in listed).split()) if name.startswith(PARTS) and (root / name).exists()]
    sources = [root / name for name in names if name.endswith((".cpp", ".cu")) or is_public(name)]
    return sources[:LIMIT] + [program for program in programs_with(root, names) if program not in sources][:2]


def is_public(name):
    return name.startswith(PUBLIC) and name.endswith(".h")


def programs_with(root, names):
    """Programs in CUDA that include one of these headers by name; of libcoord they include all."""
    included = {f'"{pathlib.Path(name).name}"' for name in names if name.startswith("tests/") and name.endswith(".h")}
    if any(map(is_public, names)):
        included.add("<coord/coord.h>")
    return [program for program in sorted((root / "tests/apps").rglob("*.cu")) if any(one in program.read_text() for one in included)]


def commands_of(root, build):
    """By source, the command that compiles it or the unity source that includes it; public headers have that of a source of libcoord."""
    entries = [(pathlib.Path(entry["file"]), entry) for entry in json.loads((build / "compile_commands.json").read_text())]
    commands = {}
    for file, entry in entries:
        if "/Unity/" in entry["file"]:
            for included in re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE):
                commands[pathlib.Path(included)] = entry
    if commands:
        commands |= {file: entry for file, entry in entries if file.suffix == ".cu"}
        commands |= {header: commands[root / "libcoord/src/coordinator/coordinator.cpp"] for header in (root / PUBLIC).glob("*.h")}
    return commands


def compiles(source, entry, compiler):
    words = shlex.split(entry["command"])
    with tempfile.NamedTemporaryFile(suffix=".o") as made:
        if source.suffix == ".cu":
            words[words.index("-o") + 1] = made.name
        else:
            alone = ["-include", str(source), "/dev/null"] if source.suffix == ".h" else [str(source)]
            words = words[words.index(compiler):words.index("-o")] + ["-fsyntax-only", "-x", "c++", *alone]
        run = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(f"{source} does not compile{'' if source.suffix == '.cu' else ' alone: a source includes what it uses'}\n{run.stderr}")
    return run.returncode == 0


def main():
    root, build, compiler = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), sys.argv[3]
    commands = commands_of(root, build)
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
