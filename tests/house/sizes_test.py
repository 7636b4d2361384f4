#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""check_sizes.py finds what is too large and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_sizes  # noqa: E402


def function(name, lines, indent=""):
    """A function of this many lines."""
    return [f"{indent}int {name}(int a) {{"] + [f"{indent}  a += {{1, 2}};"] * (lines - 2) + [f"{indent}}}"]


class Sizes(unittest.TestCase):
    def breaches(self, *lines, name="profiler/trace/some.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text("\n".join(lines) + "\n")
            return list(check_sizes.breaches(pathlib.Path(folder)))

    def test_accepts_what_has_just_the_size(self):
        self.assertEqual(self.breaches(*function("a", 80), *function("b", 80)), [])
        self.assertEqual(self.breaches(*["int x;"] * 600), [])

    def test_finds_a_function_that_is_too_long(self):
        found = self.breaches("namespace a {", *function("Some::run", 81), "}")
        self.assertEqual(len(found), 1)
        self.assertIn("profiler/trace/some.cpp:2: Some::run has 81 lines", found[0])

    def test_finds_one_inside_a_class_and_one_whose_head_takes_lines(self):
        self.assertIn("inner has 90 lines", self.breaches("class A {", *function("inner", 90, "  "), "};")[0])
        head = ["Some::Some(int a,", "           int b)", "    : a_(a),", "      b_(b) {"]
        self.assertIn("Some has 84 lines", self.breaches(*head, *["  x();"] * 79, "}")[0])

    def test_leaves_tables_comments_and_macros_alone(self):
        self.assertEqual(self.breaches("constexpr auto kRows = std::to_array<Row>({", *["    {1, 2},"] * 90, "});"), [])
        self.assertEqual(self.breaches("/* Says (much) {", *[" * line"] * 90, "}"), [])
        self.assertEqual(self.breaches("#define LIST(X) \\", *["  X(a) \\"] * 90, "  X(b)"), [])

    def test_finds_a_file_that_is_too_long(self):
        self.assertIn("has 601 lines", self.breaches(*["int x;"] * 601)[0])

    def test_reports_an_exception_that_is_obsolete(self):
        self.assertIn("take it off the list", self.breaches("int x;", name="profiler/ring/record.h")[0])


if __name__ == "__main__":
    unittest.main()
