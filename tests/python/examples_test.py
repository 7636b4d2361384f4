# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The examples in the documentation of the package, run."""

import doctest
import importlib
import pkgutil
import shutil

import pytest

import streamscope as package
from conftest import RACE

MODULES = sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def examples(module):
    # Lightning is not installed where this runs, and pytest has loaded its plugin or not.
    return [] if module == "lightning" else doctest.DocTestFinder().find(importlib.import_module(f"streamscope.{module}"))


@pytest.mark.parametrize("module", ["", *MODULES])
def test_examples_print_what_they_say(module, race, race_file, work):
    shutil.copy(race_file, work / "race.sqlite")
    tests = doctest.DocTestFinder().find(package, "streamscope") if not module else examples(module)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in tests:
        test.globs.update(trace=race, race_program=RACE)
        runner.run(test)
    assert runner.failures == 0


def test_most_modules_have_examples():
    assert sum(len(test.examples) for module in MODULES for test in examples(module)) >= 20
