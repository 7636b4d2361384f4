#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes one page of the viewer for the web.

usage: pack.py FOLDER PROGRAM LICENSES OUTPUT

FOLDER has page.html, page.css, files.js and page.js, PROGRAM.js and PROGRAM.wasm are what Emscripten linked, and PROGRAM.worker.js
if the program has threads. The page loads nothing else, and its policy allows only the scripts that are in it, by their digests, and
for threads what these make of it. Of each file NAME_VERSION_ARCHITECTURE in the folder LICENSES it has the text: the licenses of what is compiled in.
"""
import base64
import gzip
import hashlib
import sys
from pathlib import Path
from urllib.parse import unquote


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def packed(content):
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def main(folder, program, licenses, output):
    folder = Path(folder)
    page = (folder / "page.html").read_text()
    scripts = [Path(program + ".js").read_text(), (folder / "files.js").read_text(), (folder / "page.js").read_text()]
    worker = Path(program + ".worker.js").read_text() if Path(program + ".worker.js").exists() else ""
    for script in [*scripts, worker]:
        if "</script" in script.lower() or "<!--" in script:
            raise SystemExit(f"pack.py: a script of {program} would end its element")
    style = (folder / "page.css").read_text()
    parts = sorted(Path(licenses).iterdir())
    if not parts:
        raise SystemExit(f"pack.py: {licenses} is empty")
    texts = [f"{name}\n\n{file.read_text()}" for name, file in [("StreamScope", folder / "../../LICENSE"), *((" ".join(unquote(file.name).split("_")[:2]), file) for file in parts)]]
    sources = " ".join(map(digest, scripts)) + (" blob:" if worker else "")
    worker = f'<script type="text/plain" id="worker">{worker}</script>\n' if worker else ""
    for mark, text in (("@STYLE@", style), ("@STYLE_DIGEST@", digest(style)), ("@PROGRAM@", scripts[0]), ("@FILES@", scripts[1]),
                       ("@PAGE@", scripts[2]), ("@WORKER@", worker), ("@SCRIPT_SOURCES@", sources), ("@CODE@", packed(Path(program + ".wasm").read_bytes())), ("@LICENSES@", packed("\n\n\n".join(texts).encode()))):
        if page.count(mark) != 1:
            raise SystemExit(f"pack.py: page.html must have {mark} once")
        page = page.replace(mark, text)
    Path(output).write_text(page)
    print(f"{output}: {len(page.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
