#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Fails on functions above 80 lines and files above 600 lines of the product.

  tests/check_sizes.py ROOT

Relies on the project's format: the head of a function begins at the outer level or, in a class, two columns further in, and
its closing brace stands alone in the same column.
"""

import pathlib
import re
import sys

MOST_FUNCTION_LINES = 80
MOST_FILE_LINES = 600
LONGEST_HEAD = 20  # lines up to the opening brace, initializers of a constructor included
PARTS = ("libcoord", "profiler", "viewer")
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}

# What may be larger, and why.
EXCEPTIONS = {
    "profiler/ring/record.h": "the one list of fixed-size records, which collector and writer read side by side",
}

# At the outer level or in a class: something that begins like a declaration and is no other kind of block.
HEAD = re.compile(r"^( {0,2})(?!namespace|class|struct|enum|extern|union|#|//|public|private|protected|using|template|\}|\s|\*|/\*)\S")


def functions(lines):
    """(name, first line, number of lines) of each function whose body takes lines of its own."""
    at = 0
    while at < len(lines):
        head = HEAD.match(lines[at])
        if head is None or "(" not in lines[at]:
            at += 1
            continue
        opening = at
        while opening < len(lines) and opening - at < LONGEST_HEAD and not lines[opening].rstrip().endswith(("{", "}", ";", "\\")):
            opening += 1
        text = lines[opening].rstrip() if opening < len(lines) else ""
        if not text.endswith("{") or text.endswith(("({", "= {")):
            at += 1
            continue
        closing = opening + 1
        end = re.compile("^" + head.group(1) + r"\}")
        while closing < len(lines) and not end.match(lines[closing]):
            closing += 1
        signature = " ".join(line.strip() for line in lines[at:opening + 1])
        name = re.search(r"([~\w:]+)\(", re.sub(r"\[\[[^]]*\]\]", "", signature))
        yield name.group(1) if name else signature[:40], at + 1, closing - at + 1
        at = max(closing, at + 1)


def breaches(root):
    used = set()
    for part in PARTS:
        for path in sorted((root / part).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            name = path.relative_to(root).as_posix()
            lines = path.read_text().split("\n")
            if len(lines) - 1 > MOST_FILE_LINES:
                used.add(name)
                if name not in EXCEPTIONS:
                    yield f"{name}: has {len(lines) - 1} lines; at most {MOST_FILE_LINES}: split it by subject"
            for function, line, count in functions(lines):
                if count <= MOST_FUNCTION_LINES:
                    continue
                key = f"{name}: {function.split('::')[-1]}"
                used.add(key)
                if key not in EXCEPTIONS:
                    yield f"{name}:{line}: {function} has {count} lines; at most {MOST_FUNCTION_LINES}: split it by what it does"
    for key in EXCEPTIONS:
        if key not in used and (root / key.split(":")[0]).exists():
            yield f"{key} is not that large any more: take it off the list in tests/check_sizes.py"


def main():
    found = list(breaches(pathlib.Path(sys.argv[1])))
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
