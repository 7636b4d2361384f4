#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Fails where version, changelog and trace formats do not agree (docs/releasing.md).

  tests/check_release.py ROOT [VERSION]

The changelog has the form of Keep a Changelog, its top release is the version, or it has a section Unreleased; no other file states the
version. With VERSION, the tree must be ready to be released as this version.
"""

import datetime
import pathlib
import re
import sys

from check_language import texts

CHANGELOG = "docs/CHANGELOG.md"
VERSION_FILE = "profiler/python/streamscope/__init__.py"
FORMATS = "profiler/trace/schema/formats.h"
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
UNRELEASED = "Unreleased"
# The version beside the name of something of ours.
STATED = re.compile(r"\b(streamscope(-viewer)?[-_ ]v?\d+\.\d+\.\d+|libcoord(\.so\.|-)?\d+\.\d+)\b", re.I)


def version_of(root):
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"', (root / VERSION_FILE).read_text(encoding="utf-8"), re.M)
    return found[1] if found else None


def number(version):
    return tuple(map(int, version.split(".")))


def headings(root):
    """(line, level, text) of each heading of the changelog, then the lines between them as (line, 0, text)."""
    for line, text in enumerate((root / CHANGELOG).read_text(encoding="utf-8").splitlines(), 1):
        found = re.match(r"(#+) (.*)", text)
        yield (line, len(found[1]), found[2]) if found else (line, 0, text)


def releases(root):
    """Version → (line, date) in the order of the changelog; None as date if it has none."""
    found = {}
    for line, level, text in headings(root):
        if level == 2:
            name, _, date = text.partition(" - ")
            found.setdefault(name.strip("[]"), (line, date or None))
    return found


def breaches_of_heading(where, text, above):
    """Of the heading of a version, given those above it."""
    found = re.fullmatch(r"\[(Unreleased|\d+\.\d+\.\d+)\](?: - (\d{4}-\d\d-\d\d))?", text)
    if not found or (found[1] == UNRELEASED) != (found[2] is None):
        yield f"{where}: '{text}' is neither '[Unreleased]' nor '[MAJOR.MINOR.PATCH] - YYYY-MM-DD'"
        return
    if found[1] in above:
        yield f"{where}: a second section {found[1]}; merge the two"
    elif found[1] == UNRELEASED and above:
        yield f"{where}: Unreleased is not the first section"
    elif above and above[-1] != UNRELEASED and number(found[1]) > number(above[-1]):
        yield f"{where}: {found[1]} is below {above[-1]}; the newest version is first"
    if found[2]:
        try:
            datetime.date.fromisoformat(found[2])
        except ValueError:
            yield f"{where}: {found[2]} is not a date"


def breaches_of_form(root):
    links, versions = set(), []
    sections = {}  # of this version: name → [where, number of entries]
    empty = []  # where an entry is missing
    for line, level, text in headings(root):
        where = f"{CHANGELOG}:{line}"
        if link := re.match(r"\[([^]]+)\]: https://\S+$", text):
            links.add(link[1])
        elif level == 2:
            yield from breaches_of_heading(where, text, versions)
            versions += re.findall(r"^\[(Unreleased|\d+\.\d+\.\d+)\]", text)
            empty += [at for at, entries in sections.values() if not entries]
            sections = {}
        elif level == 3:
            if text not in SECTIONS:
                yield f"{where}: there is no section '{text}'; sections are {', '.join(SECTIONS)}"
            if text in sections:
                yield f"{where}: a second section {text}; the first is at {sections[text][0]}"
            sections.setdefault(text, [where, 0])
        elif text.startswith("- ") and sections:
            list(sections.values())[-1][1] += 1
        elif text.startswith("- ") and versions:
            yield f"{where}: an entry outside of the sections {', '.join(SECTIONS)}"
    for at in empty + [at for at, entries in sections.values() if not entries]:
        yield f"{at}: has no entry; add one or remove the heading"
    for version in versions:
        if version not in links:
            yield f"{CHANGELOG}: no link for {version}; add '[{version}]: https://…' at the end"


def breaches_of_version(root):
    version = version_of(root)
    if version is None:
        yield f"{VERSION_FILE}: has no line '__version__ = \"MAJOR.MINOR.PATCH\"'"
        return
    listed = releases(root)
    released = [name for name in listed if re.fullmatch(r"\d+\.\d+\.\d+", name)]
    if not listed or (UNRELEASED not in listed and released[:1] != [version]):
        yield f"{CHANGELOG}: has neither a section Unreleased nor, as its first, one of the version {version}"
    if released and number(released[0]) > number(version):
        yield f"{CHANGELOG}: {released[0]} is released, but the version is {version}; raise it in {VERSION_FILE}"
    for path in texts(root):
        name = path.relative_to(root).as_posix()
        if name == CHANGELOG or name.startswith("tests/house/") or not path.exists():
            continue
        for line, text in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if found := STATED.search(text):
                yield f"{name}:{line}: '{found[0]}' states a version, which only {VERSION_FILE} does; name it without"


def first_releases(root):
    """Format → its first release, empty if it has none yet."""
    rows = re.findall(r'^\s*\{(\d+), "([^"]*)"\}', (root / FORMATS).read_text(encoding="utf-8"), re.M)
    return {int(format): release for format, release in rows}


def breaches_of_formats(root):
    formats = first_releases(root)
    if not formats:
        yield f"{FORMATS}: has no rows that can be read"
    for format, release in formats.items():
        if release and release not in releases(root) and release != version_of(root):
            yield f"{FORMATS}: format {format} names {release}, which {CHANGELOG} does not have"


def breaches_of_readiness(root, wanted):
    version = version_of(root)
    if wanted != version:
        yield f"{VERSION_FILE}: the version is {version}, not {wanted}; change it, or release {version}"
        return
    listed = releases(root)
    if wanted not in listed:
        yield f"{CHANGELOG}: has no section '[{wanted}] - YYYY-MM-DD'; give what is under Unreleased this heading"
    for format, release in first_releases(root).items():
        if not release:
            yield f"{FORMATS}: format {format} has no first release; write \"{wanted}\""


def breaches(root, wanted=None):
    for check in (breaches_of_form, breaches_of_version, breaches_of_formats):
        yield from check(root)
    if wanted is not None:
        yield from breaches_of_readiness(root, wanted)


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(breaches(pathlib.Path(arguments[0]), *arguments[1:]))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
