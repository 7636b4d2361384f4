#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Fails on phrases that a native speaker would stumble over.

  tests/check_language.py ROOT [--list]

Reads every text of the project that people see: pages, comments, messages, test names. `--list` prints the phrases.
"""

import pathlib
import re
import sys

SUFFIXES = {".h", ".cpp", ".cu", ".cuh", ".c", ".def", ".sql", ".md", ".py", ".sh", ".cmake", ".js", ".css", ".mjs", ".txt", ".yml", ".proto"}
FOLDERS = (".ci", ".github", "cmake", "docs", "libcoord", "profiler", "tests", "traces", "viewer")
FILES = ("CMakeLists.txt", "README.md", "dev")

# Pattern (in any case), what to write instead.
PHRASES = [
    (r"\bstand(s|ing)? still\b|\bstood still\b|\bstandstills?\b", "hang, hung"),
    (r"\blets? pass\b", "ignored"),
    (r"\bdear(er|est|ly)?\b(?! im ?gui)", "expensive, costly"),
    (r"\bin vain\b|\bvain quer", "not ready, unanswered"),
    (r"\bhow-?manieth\b", "index"),
    (r"\ba hair (above|below)\b|\bby a hair\b", "the number"),
    (r"\bmakes? no sense\b", "invalid"),
    (r"\bgrave(st|r)\b", "most severe"),
    (r"\bin the midst of\b", "in the middle of"),
    (r"\bown word on\b", "records"),
    (r"\btold (otherwise|to it|by it|of it|so)\b|\b(is|are|was|were|be) told\b", "report, notify"),
    (r"\btells? (of|its|their|the observer|the user|a user)\b", "report"),
    (r"\brivals?\b", "contention, contender"),
    (r"\bsits? in (a|the|its) (call|synchronization)\b|\bsat in\b", "blocked in"),
    (r"\bbe it\b|\bwhereof\b|\bthereof\b|\btherein\b|\bherein\b", "plain words"),
    (r"\ba room of (its|their) own\b", "its own file"),
    (r"\bworth telling\b|\bworth a word\b", "worth reporting"),
    (r"\blately\b", "recently"),
    (r"\bcould know\b", "can observe"),
    (r"\bthe reason stands\b", "the reason is printed"),
    (r"\bthat which\b", "what"),
    (r"\bfor people:", "shown as"),
]

# Path (a prefix) and pattern that is right there, with the reason.
EXCEPTIONS = [
    ("tests/check_language.py", r".", "the list itself"),
    ("tests/house/language_test.py", r".", "its test"),
    ("tests/bench/", r"rival", "another library that is measured beside ours"),
    ("docs/performance.md", r"rival", "the same"),
    ("docs/CONTRIBUTING.md", r"rival", "the same"),
    ("docs/decisions/", r"rival", "the same"),
    ("docs/extending.md", r"rival", "the same"),
    ("tests/coord/tests.cmake", r"rival", "the same"),
    ("tests/house/dev_test.sh", r"rival", "the same"),
    ("dev", r"rival", "the same"),
]


ANY = re.compile("|".join(pattern for pattern, _ in PHRASES), re.I)


def is_excepted(path, phrase):
    return any(path.startswith(prefix) and re.search(pattern, phrase, re.I) for prefix, pattern, _ in EXCEPTIONS)


def texts(root):
    for name in FILES:
        yield root / name
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def breaches(root):
    for path in texts(root):
        if not path.exists():
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            # Names are read by their words: TellsWhatIs, look_at_it.
            words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", line)
            if not ANY.search(words):
                continue
            for pattern, instead in PHRASES:
                found = re.search(pattern, words, re.I)
                if found and not is_excepted(name, found.group(0)):
                    yield f"{name}:{number}: '{found.group(0)}': write {instead}"


def main(arguments):
    if "--list" in arguments:
        for pattern, instead in PHRASES:
            print(f"{pattern}  ->  {instead}")
        return 0
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(breaches(pathlib.Path(arguments[0])))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
