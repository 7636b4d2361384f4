#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes one page of the viewer for the web.

usage: pack.py FOLDER PROGRAM OUTPUT

FOLDER has page.html, page.css, files.js and page.js, PROGRAM.js and PROGRAM.wasm are what Emscripten linked. The page loads nothing
else, and its policy allows only the scripts that are in it, by their digests.
"""
import base64
import gzip
import hashlib
import sys
from pathlib import Path


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def main(folder, program, output):
    folder = Path(folder)
    page = (folder / "page.html").read_text()
    scripts = [Path(program + ".js").read_text(), (folder / "files.js").read_text(), (folder / "page.js").read_text()]
    for script in scripts:
        if "</script" in script.lower() or "<!--" in script:
            raise SystemExit(f"pack.py: a script of {program} would end its element")
    style = (folder / "page.css").read_text()
    code = base64.b64encode(gzip.compress(Path(program + ".wasm").read_bytes(), 9, mtime=0)).decode()
    for mark, text in (("@STYLE@", style), ("@STYLE_DIGEST@", digest(style)), ("@PROGRAM@", scripts[0]), ("@FILES@", scripts[1]),
                       ("@PAGE@", scripts[2]), ("@SCRIPT_DIGESTS@", " ".join(map(digest, scripts))), ("@CODE@", code)):
        if page.count(mark) != 1:
            raise SystemExit(f"pack.py: page.html must have {mark} once")
        page = page.replace(mark, text)
    Path(output).write_text(page)
    print(f"{output}: {len(page.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
