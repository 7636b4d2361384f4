#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""coverage.py counts each line of the parts once."""

import collections
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import coverage  # noqa: E402


def report(file, **counts):
    lines = [{"line_number": int(number[1:]), "count": count} for number, count in counts.items()]
    return {"current_working_directory": "/root/build", "files": [{"file": file, "lines": lines}]}


class Coverage(unittest.TestCase):
    def covered(self, *reports):
        covered = collections.defaultdict(lambda: collections.defaultdict(bool))
        for each in reports:
            coverage.add(each, pathlib.Path("/root"), covered)
        return {name: dict(lines) for name, lines in covered.items()}

    def test_a_line_is_covered_if_one_object_ran_it(self):
        first = report("../profiler/a.h", l1=0, l2=3, l3=0)
        second = report("/root/profiler/a.h", l1=2, l2=0, l3=0)
        for order in ((first, second), (second, first)):
            self.assertEqual(self.covered(*order), {"profiler/a.h": {1: True, 2: True, 3: False}})

    def test_tests_examples_and_headers_of_the_system_do_not_count(self):
        self.assertEqual(self.covered(report("../tests/a.cpp", l1=1), report("/usr/include/new", l1=1),
                                      report("../libcoord/examples/a.cpp", l1=1)), {})


if __name__ == "__main__":
    unittest.main()
