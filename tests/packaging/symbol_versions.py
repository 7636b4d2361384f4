#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Fails if a program or library in a folder needs newer symbols than these versions.

  symbol_versions.py FOLDER GLIBC_2.35 GLIBCXX_3.4.30 …
"""

import pathlib
import re
import subprocess
import sys


def number(version):
    return tuple(int(part) for part in version.split("."))


def needed(file):
    """(library, version, symbol) of each symbol that comes from elsewhere."""
    listing = subprocess.run(["objdump", "--dynamic-syms", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\*UND\*.*\((GLIBC|GLIBCXX|CXXABI)_([\d.]+)\)\s+(\S+)", listing)


def main():
    folder = pathlib.Path(sys.argv[1])
    limits = dict(limit.split("_") for limit in sys.argv[2:])
    checked, newer = 0, []
    for file in sorted(folder.rglob("*")):
        if file.is_symlink() or not file.is_file() or file.read_bytes()[:4] != b"\x7fELF":
            continue
        checked += 1
        newer += [f"{file.relative_to(folder)} needs {symbol} of {library}_{version}" for library, version, symbol in needed(file)
                  if number(version) > number(limits[library])]
    print("\n".join(newer) or f"{checked} files need at most {' '.join(sys.argv[2:])}")
    return 1 if newer or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
