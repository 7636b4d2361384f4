# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Recording other programs and parts of this process, and marking iterations."""

import os
import pathlib
import re

import pytest

import streamscope as package
from conftest import RACE, python


def test_records_another_program():
    trace = package.run(f"{RACE} --device sim --repaired", "repaired.sqlite")
    trace.assert_no_findings()
    assert trace.path == "repaired.sqlite" and not package.is_recorded()
    with pytest.raises(package.Error, match="exists"):
        package.run([RACE, "--device", "sim"], "repaired.sqlite")
    package.run([RACE, "--device", "sim"], "repaired.sqlite", force=True)
    with pytest.raises(AssertionError, match="SS001 stream-race"):
        trace.assert_no_findings()


def test_a_failing_program_is_an_error_unless_that_is_expected():
    with pytest.raises(package.Error, match="failed with exit code 2"):
        package.run([RACE, "--wrong"])
    with pytest.raises(package.Error, match="left no trace: the program used no CUDA stream"):
        package.run(["false"], check=False)
    with pytest.raises(package.Error, match="no program to record"):
        package.run([])


def test_options_of_the_recorder_are_passed_on():
    assert package.run([RACE, "--device", "sim"], options=["--tier", "structure"]).meta["tier"] == "structure"


def test_a_temporary_trace_is_deleted_at_the_end():
    done = python("-c", f"import streamscope; print(streamscope.run(['{RACE}', '--device', 'sim']).path)")
    path = done.stdout.split()[-1]
    assert path.endswith(".sqlite") and not os.path.exists(os.path.dirname(path))


def test_a_process_that_is_not_recorded_learns_how_to_start(monkeypatch):
    monkeypatch.setattr("sys.argv", ["train.py", "--steps", "20"])
    with pytest.raises(package.Error, match="this process is not recorded; start it with: streamscope record -- python3.* train.py --steps 20"):
        with package.record("part.sqlite"):
            pass


def test_steps_do_nothing_in_a_process_that_is_not_recorded():
    assert [item for item in package.steps("abc")] == ["a", "b", "c"]
    with package.step():
        package.step("inner")


PART = """
import streamscope
from simulated import Steps

work = Steps()
work.step(racy=True)
with streamscope.record("part.sqlite", iteration="nvtx:step") as trace:
    for _ in streamscope.steps(range(10)):
        work.step()
    work.finish()
work.close()
"""


def test_records_a_part_of_a_process(work):
    (work / "part.py").write_text(PART)
    done = python("part.py", recorded=True)
    assert done.returncode == 0, done.stdout
    part = package.open("part.sqlite", iteration="nvtx:step", tables="rows")
    assert sum(op["name"] == "gemm" for op in part.ops) == 10, "without the step before"
    assert part.diagnosis()["iteration"]["count"] == 10
    part.assert_may_overlap("AllGather*", "gemm*")
    part.assert_no_findings()


RANGES = """
import streamscope
from simulated import Steps

work = Steps()
for _ in range(3):
    streamscope.step("loop")
    work.step()
try:
    with streamscope.record("failed.sqlite"):
        with streamscope.step("block"):
            streamscope.step("inner")
            work.step()
            work.finish()
        raise KeyError("of the block")
except KeyError as error:
    print(error)
try:
    with streamscope.record("failed.sqlite"):
        pass
except streamscope.Error as error:
    print(error)
work.close()
"""


def test_ranges_end_with_the_block_that_they_are_in(work):
    (work / "ranges.py").write_text(RANGES)
    done = python("ranges.py", recorded=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines() == ["'of the block'", "failed.sqlite: exists already; choose another name, or use force=True"]
    ranges = package.open("whole.sqlite", tables="rows").ranges
    ended = {row["name"] if "record" not in row["name"] else "record": row["end_ns"] for row in ranges}
    assert [row["name"] for row in ranges].count("loop") == 3
    assert ended["inner"] <= ended["block"] <= ended["record"]
    assert len(package.open("failed.sqlite", tables="rows").ops) == 3


def test_the_example_of_the_page_works(work):
    page = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    example = re.search(r"```python\n(import streamscope.*?)```", page, re.DOTALL)[1]
    (work / "train.py").write_text(
        f"from simulated import Steps\nloader = range(10)\nwork = Steps()\ndef train(batch):\n    work.step()\n    work.finish()\n{example}\nwork.close()\n"
    )
    done = python("train.py", recorded=True)
    assert done.returncode == 0, done.stdout
    assert "Bound by the device" in done.stdout or "Bound by the host" in done.stdout, done.stdout
