# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The packages that need no installation of the system, on this machine as it is: the archive, unpacked, and the wheel in an environment of
its own, beside the machine's PyTorch. --packages names the folder that `./dev package` filled."""

import shutil
import statistics
import time

import python_package
from harness import REPOSITORY
from pytorch import is_available

PROGRAM = REPOSITORY / "tests/gpu/programs/torch_parts.py"
MOST_START_MS = 20
ALONE = {"LD_LIBRARY_PATH": ""}  # nothing of the build


def check_program(harness, name, program):
    """The program starts, records its demo on the GPU, and finds its libraries without help."""
    version = harness.run([program, "--version"], 20, ALONE)
    if not harness.check(f"{name}: starts", version.code == 0, version.why()):
        return False
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        harness.run([program, "--version"], 20, ALONE)
        times.append((time.perf_counter() - begin) * 1e3)
    harness.log(f"  {name}: {version.out.strip()}, starts in {statistics.median(times):.1f} ms (median of 20)")
    harness.check(f"{name}: starts in {MOST_START_MS} ms", statistics.median(times) <= MOST_START_MS, f"{statistics.median(times):.1f} ms")
    trace = harness.work / f"{name}.demo.sqlite"
    demo = harness.run([program, "demo", "pipeline", "--quiet", "-o", trace], 60, ALONE)
    if harness.check(f"{name}: demo", demo.code == 0 and trace.exists(), demo.why()):
        info = harness.info(trace, name) or {}
        harness.equal(f"{name}: the demo's trace is complete", True, info.get("complete"))
    return True


def check_archive(harness, archive):
    folder = harness.work / "archive"
    shutil.unpack_archive(archive, folder)
    program = next(folder.glob("*/bin/streamscope"))
    if not check_program(harness, "archive", program):
        return
    trace = harness.work / "archive.torch.sqlite"
    recorded = harness.run([program, "record", "-o", trace, "--", harness.python, PROGRAM, 5], 120, {**ALONE, "PYTHONPATH": str(REPOSITORY / "profiler/python")})
    harness.check("archive: records PyTorch", recorded.code == 0 and trace.exists(), recorded.why())
    report = harness.run([program, "report", trace], 60, ALONE)
    harness.check("archive: reports", report.code == 0 and "Iteration" in report.out, report.why())
    viewer = program.with_name("streamscope-viewer")
    missing = [line.strip() for line in harness.run(["ldd", viewer], 20, ALONE).out.splitlines() if "not found" in line]
    if missing:
        harness.skip("archive: viewer", "; ".join(missing))
        return
    picture = harness.work / "archive.png"
    drawn = harness.run([viewer, trace, "--screenshot", picture], 120, ALONE)
    harness.check("archive: viewer draws", drawn.code == 0 and picture.exists(), drawn.why())


def share_pytorch(harness, environment):
    """The packages of the machine's interpreter, which may be in an environment of its own, are found behind those of this one."""
    of_machine = harness.run([harness.python, "-c", "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))"]).out.strip()
    folder = next((environment / "lib").glob("python*/site-packages"))
    (folder / "machine.pth").write_text(of_machine + "\n")


def check_wheel(harness, wheel):
    environment = harness.work / "venv"
    for command in ([harness.python, "-m", "venv", environment],
                    [environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", wheel]):
        done = harness.run(command, 120, ALONE)
        if not harness.check(f"wheel: {' '.join(map(str, command[1:4]))}", done.code == 0, done.why()):
            return
    if not check_program(harness, "wheel", environment / "bin/streamscope"):
        return
    share_pytorch(harness, environment)
    python, part = environment / "bin/python", harness.work / "wheel.part.sqlite"
    recorded = harness.run([environment / "bin/streamscope", "record", "-o", harness.work / "wheel.torch.sqlite", "--", python, PROGRAM, 5, part], 120, ALONE)
    if harness.check("wheel: records a block of PyTorch", recorded.code == 0 and part.exists(), recorded.why()):
        harness.equal("wheel: steps of the block", 5, python_package.counts_of(part)["steps"])
    tests = harness.run([python, "-m", "pytest", "--streamscope", "--streamscope-dir", harness.work / "wheel.tests", "-p", "no:cacheprovider",
                         REPOSITORY / "tests/gpu/programs/test_parts.py"], 200, ALONE)
    harness.check("wheel: its pytest plugin", "1 failed, 3 passed" in tests.out, tests.why())


def run(harness):
    folder = harness.options.packages.resolve()
    found = sorted(folder.glob("*")) if folder.is_dir() else []
    archives, wheels = [path for path in found if path.name.endswith(".tar.xz")], [path for path in found if path.suffix == ".whl"]
    if not archives and not wheels:
        harness.skip("packages", f"there are none in {folder}")
    if not found or not is_available(harness):
        return
    for archive in archives:
        check_archive(harness, archive)
    for wheel in wheels:
        check_wheel(harness, wheel)
