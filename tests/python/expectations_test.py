# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Expectations of traces: what is not proved fails. Their examples have the usual cases."""

import subprocess

import pytest

import streamscope as package
from conftest import RACE, recording_in_progress
from streamscope import program


def test_what_cannot_be_decided_fails(race):
    with pytest.raises(AssertionError, match='"nothing[*]".*: not evaluable: no kernel or copy matches'):
        race.assert_may_overlap("nothing*", "sum")
    with pytest.raises(AssertionError, match="iteration <= 1 ms: not measurable"):
        package.open(race.path, iteration="nvtx:nothing").assert_iteration_time("1 ms")


def test_an_unfinished_trace_has_no_verdict():
    with recording_in_progress("unfinished.sqlite") as recorder:
        recorder.kill()
        recorder.wait()
        with pytest.raises(AssertionError, match="not evaluable: .* the trace is unfinished"):
            package.open("unfinished.sqlite").assert_no_findings()


def test_patterns_may_have_quotes(race):
    for pattern in ("a'b", 'a"b', "a'b\"c"):
        with pytest.raises(AssertionError, match="no kernel or copy matches"):
            race.assert_ordered(pattern, "sum")


def test_findings_of_a_baseline_are_known(race):
    with pytest.raises(AssertionError, match="SS001 stream-race"):
        race.assert_no_findings()
    subprocess.run([program.find(), "check", race.path, "--write-baseline", "known.json"], stdout=subprocess.DEVNULL, check=True)
    race.assert_no_findings(baseline="known.json")
    with pytest.raises(package.Error, match="missing.json"):
        race.assert_no_findings(baseline="missing.json")


def test_the_severity_that_fails_can_be_chosen():
    repaired = package.run([RACE, "--device", "sim", "--repaired"])
    repaired.assert_no_findings("error")
    with pytest.raises(package.Error, match="fail-on"):
        repaired.assert_no_findings("fatal")


def test_an_iteration_slower_than_that_of_the_baseline_is_noticed():
    fast, slow = (package.run([RACE, "--device", "sim", "--iterations", "30", *more]) for more in ([], ["--repaired"]))
    slow.assert_iteration_time(relative_to=slow)
    with pytest.raises(AssertionError, match="regression: a repetition is slower than in the baseline by more than 5.0 %"):
        slow.assert_iteration_time(relative_to=fast)
    slow.assert_iteration_time(relative_to=fast, max_slowdown_percent=1000)
    with pytest.raises(TypeError):
        slow.assert_iteration_time()
