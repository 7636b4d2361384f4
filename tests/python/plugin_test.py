# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The plugin of pytest, run on tests of programs with and without mistakes."""

import os
import re
import xml.etree.ElementTree

import pytest

from conftest import RACE, python


def run_pytest(work, tests, *options):
    """Runs pytest on a file of tests; returns its exit code, its output, and the traces it left."""
    (work / "test_it.py").write_text(tests)
    done = python("-m", "pytest", "-p", "streamscope.pytest_plugin", "-p", "no:cacheprovider", "test_it.py", *options)
    traces = sorted(os.listdir("streamscope-traces")) if os.path.isdir("streamscope-traces") else []
    return done.returncode, done.stdout, traces


PROGRAMS = f"""
RACE = ["{RACE}", "--device", "sim"]

def test_racy(streamscope):
    streamscope.run(RACE).assert_no_findings()

def test_repaired(streamscope):
    streamscope.run([*RACE, "--repaired"]).assert_no_findings()

def test_ordered(streamscope):
    streamscope.run([*RACE, "--repaired"]).assert_may_overlap("memcpy HtoD", "sum")

def test_nothing_recorded(streamscope):
    pass
"""


def test_fails_on_the_racy_program_and_keeps_its_trace(work):
    code, text, traces = run_pytest(work, PROGRAMS)
    assert code == 1 and "2 failed, 2 passed" in text, text
    assert traces == ["test_it.py-test_ordered-1.sqlite", "test_it.py-test_racy-1.sqlite"]
    assert "SS001 stream-race" in text
    assert 'may_overlap("memcpy HtoD", "sum"): fails: every pair is ordered' in text
    assert "streamscope report streamscope-traces/test_it.py-test_racy-1.sqlite" in text
    assert text.count("Longest waits") == 2, "the report of each failed test"


def test_traces_of_passed_tests_are_kept_on_request(work):
    _, _, traces = run_pytest(work, PROGRAMS, "-k", "repaired", "--streamscope-keep", "--streamscope-dir", "streamscope-traces/kept")
    assert traces == ["kept"]
    assert os.listdir("streamscope-traces/kept") == ["test_it.py-test_repaired-1.sqlite"]


def test_junit_xml_has_trace_and_verdict(work):
    run_pytest(work, PROGRAMS, "--junitxml", "junit.xml")
    cases = xml.etree.ElementTree.parse("junit.xml").iter("testcase")
    properties = {case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")} for case in cases}
    assert properties["test_racy"]["streamscope.check"] == "failed"
    assert properties["test_racy"]["streamscope.trace"] == "streamscope-traces/test_it.py-test_racy-1.sqlite"
    assert properties["test_repaired"]["streamscope.check"] == "passed"
    assert int(properties["test_repaired"]["streamscope.iteration_ns"]) > 20_000
    assert "streamscope.trace" not in properties["test_repaired"], "it was deleted"
    assert properties["test_nothing_recorded"] == {}


def test_works_with_xdist(work):
    pytest.importorskip("xdist", reason="python3-pytest-xdist is not installed")
    code, text, traces = run_pytest(work, PROGRAMS, "-n", "2")
    assert code == 1 and "2 failed, 2 passed" in text, text
    assert traces == ["test_it.py-test_ordered-1.sqlite", "test_it.py-test_racy-1.sqlite"]
    assert "streamscope report streamscope-traces/test_it.py-test_racy-1.sqlite" in text


def test_a_test_that_is_not_recorded_says_how_to_start(work):
    code, text, _ = run_pytest(work, "def test(streamscope):\n    with streamscope.record():\n        pass\n")
    assert code == 1
    assert "this process is not recorded; start the tests with: pytest --streamscope" in text


def test_long_names_of_tests_become_different_files(work):
    tests = f"""
import pytest

@pytest.mark.parametrize("name", ["x" * 300 + "1", "x" * 300 + "2"])
def test(streamscope, name):
    streamscope.run(["{RACE}", "--device", "sim"])
"""
    code, text, traces = run_pytest(work, tests, "--streamscope-keep")
    assert code == 0, text
    assert len(traces) == 2


STEPS = """
import os

import pytest
import streamscope as package
from simulated import Steps


@pytest.fixture(scope="session")
def work():
    steps = Steps()
    yield steps
    steps.close()


@pytest.fixture
def record(streamscope, work):
    def record(count=10, **mistakes):
        with streamscope.record(iteration="nvtx:step") as run:
            for _ in package.steps(range(count)):
                work.step(**mistakes)
            work.finish()
        return run
    return record


def test_good(record):
    run = record()
    run.assert_may_overlap("AllGather*", "gemm*")
    run.assert_no_findings()
    run.assert_no_sync_in("nvtx:step")


def test_racy(record):
    record(racy=True).assert_no_findings()


def test_serial(record):
    record(serial=True).assert_may_overlap("AllGather*", "gemm*")


def test_slow(record):
    baseline = record()
    record(gemm_us=40).assert_iteration_time(relative_to=baseline)


def test_raises(streamscope, work):
    with streamscope.record():
        work.step()
        work.finish()
        raise KeyError("in the block")
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_records_each_test_into_its_own_trace(work, workers):
    if workers:
        pytest.importorskip("xdist", reason="python3-pytest-xdist is not installed")
    code, text, traces = run_pytest(work, STEPS, "--streamscope", *(["-n", str(workers)] if workers else []))
    assert code == 1 and "4 failed, 1 passed" in text, text
    names = ["racy-1", "raises-1", "serial-1", "slow-1", "slow-2"]
    assert traces == ["session.sqlite", *(f"test_it.py-test_{name}.sqlite" for name in names)]
    assert "SS001 stream-race" in text
    assert 'may_overlap("AllGather*", "gemm*"): fails: every pair is ordered' in text
    assert "regression: a repetition is slower than in the baseline" in text
    assert "KeyError: 'in the block'" in text
    assert len(re.findall("Longest waits", text)) == 5, "the report of each trace that was kept"


def test_restarts_the_same_command(work):
    tests = """
import sys

def test(request):
    assert "-k" in sys.argv and request.config.getoption("-k") == "test"
    assert sys.flags.dont_write_bytecode
"""
    code, text, traces = run_pytest(work, tests, "--streamscope", "-k", "test", "--streamscope-options", "--tier structure")
    assert code == 0 and "1 passed" in text, text


def test_a_wrong_option_of_the_recorder_ends_the_session(work):
    code, text, _ = run_pytest(work, PROGRAMS, "--streamscope", "--streamscope-options", "--tier none")
    assert code == 2 and "--tier" in text, text
