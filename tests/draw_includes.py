#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The picture of docs/architecture.md: which folder includes which, from the sources.

  tests/draw_includes.py ROOT            prints the graph for graphviz
  tests/draw_includes.py ROOT PICTURE    fails unless the picture (SVG of graphviz) shows exactly these folders and arrows

To redraw it: tests/draw_includes.py . | dot -Tsvg -o docs/images/includes.svg
"""

import collections
import html
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def folders_of(root):
    """Those that check_layers.cmake knows."""
    text = (root / "tests/check_layers.cmake").read_text(encoding="utf-8")
    return re.search(r"set\(folders ([^)]*)\)", text).group(1).split()


def target_of(include, folders):
    """The folder that an include names by its path; None for one of the same folder or of others."""
    first = include.split("/")[0]
    if "/" not in include:
        return None
    if first == "coord":
        return "libcoord"
    return f"profiler/{first}" if f"profiler/{first}" in folders else None


def arrows(root, folders):
    """How many includes lead from a folder to another."""
    counts = collections.Counter()
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
                continue
            for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
                target = target_of(include, folders)
                if target and target != folder:
                    counts[folder, target] += 1
    return counts


def layers(folders, counts):
    """The folders by the longest way down from each, from the bottom up."""

    def depth(folder):
        return max((1 + depth(target) for source, target in counts if source == folder), default=0)

    found = collections.defaultdict(list)
    for folder in folders:
        found[depth(folder)].append(folder)
    return [found[layer] for layer in sorted(found)]


def draw(folders, counts):
    lines = ["digraph includes {",
             '  rankdir=BT; nodesep=0.35; ranksep=0.6; bgcolor="white";',
             '  node [shape=box style="rounded,filled" fillcolor="#eef3fb" color="#5b7db1" fontname="Helvetica" fontsize=12];',
             '  edge [color="#8aa0bd" arrowsize=0.7];']
    for layer in layers(folders, counts):
        lines.append("  { rank=same; " + " ".join(f'"{folder}";' for folder in layer) + " }")
    for (source, target), count in sorted(counts.items()):
        width = 0.8 if count < 10 else 1.4 if count < 50 else 2.2
        lines.append(f'  "{target}" -> "{source}" [dir=back penwidth={width} tooltip="{count} includes"];')
    return "\n".join(lines + ["}"])


def shown(picture, folders):
    """Folders and arrows (from, to) of the picture."""
    titles = [html.unescape(title) for title in re.findall(r"<title>([^<]*)</title>", picture)]
    pairs = [title.split("->") for title in titles if "->" in title]
    return {title for title in titles if title in folders}, {(source, target) for target, source in pairs}


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = pathlib.Path(arguments[0])
    folders = folders_of(root)
    counts = arrows(root, folders)
    if len(arguments) == 1:
        print(draw(folders, counts))
        return 0
    drawn, pairs = shown(pathlib.Path(arguments[1]).read_text(encoding="utf-8"), folders)
    problems = [f"not in the picture: {folder}" for folder in folders if folder not in drawn]
    problems += [f"not in the picture: {a} includes {b}" for a, b in sorted(set(counts) - pairs)]
    problems += [f"only in the picture: {a} includes {b}" for a, b in sorted(pairs - set(counts))]
    if problems:
        print("\n".join(problems) + "\nredraw it: tests/draw_includes.py . | dot -Tsvg -o docs/images/includes.svg")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
