# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The commands of the documents that need a GPU, PyTorch or nvcc, and with them the others of these pages, by the archive of --packages."""

import re
import tarfile

from harness import REPOSITORY

PAGES = ["docs/tutorials/cuda.md", "docs/tutorials/pytorch.md", "docs/races.md"]
NEEDS = re.compile(r"^\s*[^:]*\b(gpu|python:torch|program:nvcc)\b.*", re.M)
LIMIT_S = 400


def run(harness):
    archives = sorted(harness.options.packages.resolve().glob("*.tar.xz"))
    if not archives:
        harness.skip("documents", f"there is no archive in {harness.options.packages}")
        return
    with tarfile.open(archives[-1]) as archive:
        archive.extractall(harness.work)
        installed = harness.work / archive.getnames()[0].partition("/")[0]
    finished = harness.run([harness.python, REPOSITORY / "tests/docs/run.py", "--build", installed, *(REPOSITORY / page for page in PAGES)], LIMIT_S)
    for line in finished.out.splitlines():
        harness.log(f"  {line}")
    harness.check("the commands of the documents run", finished.code == 0, finished.why())
    harness.equal("commands that were only checked, for want of what is here", [], NEEDS.findall(finished.out))
