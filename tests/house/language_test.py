#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""check_language.py finds worn-out phrases in pages, comments and names, and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_language  # noqa: E402


class Language(unittest.TestCase):
    def breaches(self, text, name="profiler/trace/some.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text + "\n")
            return list(check_language.breaches(pathlib.Path(folder)))

    def test_finds_a_phrase_and_says_what_to_write(self):
        self.assertEqual(self.breaches("\n// The program stood still."),
                         ["profiler/trace/some.cpp:2: 'stood still': write hang, hung"])
        self.assertEqual(len(self.breaches("Every call is dear.", name="docs/page.md")), 1)

    def test_reads_names_by_their_words(self):
        self.assertEqual(len(self.breaches("TEST(Hang, NamesWhoStandsStill) {}")), 1)
        self.assertEqual(len(self.breaches("int polled_in_vain = 0;")), 1)

    def test_leaves_everything_else(self):
        self.assertEqual(self.breaches("// Dear ImGui draws it; the program hangs."), [])
        self.assertEqual(self.breaches("rival mutex_ns", name="tests/bench/some_bench.cpp"), [])
        self.assertEqual(self.breaches("stood still", name="build/some.cpp"), [])


if __name__ == "__main__":
    unittest.main()
