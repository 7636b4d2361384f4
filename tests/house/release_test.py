#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""check_release.py finds where version, changelog and trace formats disagree, and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_release  # noqa: E402

ENTRY = "### Added\n\n- Something.\n\n"
LINKS = "".join(f"[{name}]: https://example.org/{name}\n" for name in ("Unreleased", "0.1.0", "0.2.0", "0.3.0"))
RELEASED = "## [0.2.0] - 2026-11-27\n\n" + ENTRY + "## [0.1.0] - 2026-10-01\n\n" + ENTRY


class Release(unittest.TestCase):
    def breaches(self, changelog, *wanted, version="0.2.0", formats='    {1, "0.1.0"},\n', files=()):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            texts = {
                check_release.CHANGELOG: f"# Changelog\n\n{changelog}{LINKS}",
                check_release.VERSION_FILE: f'__version__ = "{version}"  # of everything\n',
                check_release.FORMATS: formats,
                **dict(files),
            }
            for name, text in texts.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return list(check_release.breaches(root, *wanted))

    def expect(self, words, *arguments, **options):
        found = self.breaches(*arguments, **options)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_accepts_what_is_in_order(self):
        self.assertEqual(self.breaches("## [Unreleased]\n\n" + ENTRY, formats='    {1, ""},\n'), [])
        self.assertEqual(self.breaches("## [Unreleased]\n\n" + RELEASED), [])  # just released
        self.assertEqual(self.breaches(RELEASED), [])
        self.assertEqual(self.breaches(RELEASED, "0.2.0"), [])

    def test_finds_a_changelog_of_another_form(self):
        self.expect("docs/CHANGELOG.md:3: 'Next' is neither", "## Next\n\n" + ENTRY + RELEASED)
        self.expect("'[0.2.0]' is neither", RELEASED.replace(" - 2026-11-27", ""))
        self.expect("2026-13-27 is not a date", RELEASED.replace("2026-11-27", "2026-13-27"))
        self.expect("there is no section 'News'", RELEASED.replace("### Added", "### News", 1))
        self.expect("a second section Added", RELEASED.replace(ENTRY, ENTRY + ENTRY, 1))
        self.expect("has no entry", RELEASED.replace("- Something.\n\n", "", 1))
        self.expect("has no entry", RELEASED.removesuffix("- Something.\n\n"))
        self.expect("outside of the sections", RELEASED.replace("### Added\n\n", "", 1))
        self.expect("Unreleased is not the first section", RELEASED + "## [Unreleased]\n\n" + ENTRY)
        self.expect("a second section 0.2.0", "## [0.2.0] - 2026-11-28\n\n" + ENTRY + RELEASED)
        self.expect("no link for 0.0.9", RELEASED + "## [0.0.9] - 2026-01-01\n\n" + ENTRY)

    def test_finds_versions_in_the_wrong_order(self):
        self.expect("0.3.0 is below 0.1.0", RELEASED + "## [0.3.0] - 2026-01-01\n\n" + ENTRY, version="0.2.0")

    def test_finds_a_version_without_its_section(self):
        self.expect("neither a section Unreleased nor, as its first, one of the version 0.3.0", RELEASED, version="0.3.0")
        self.expect("0.2.0 is released, but the version is 0.1.0", "## [Unreleased]\n\n" + ENTRY + RELEASED, version="0.1.0")
        self.expect("has no line '__version__", RELEASED, version="next")

    def test_finds_the_version_in_other_files(self):
        for text in ("tar xf streamscope-0.2.0-linux.tar.xz", "streamscope 0.1.0: shows", "apt install libcoord0.2", "libcoord.so.0.2"):
            self.expect("docs/page.md:2:", RELEASED, files={"docs/page.md": f"\n{text}\n"})
        self.assertEqual(self.breaches(RELEASED, files={"docs/page.md": "libcoord waits 0.2 µs; streamscope-*.tar.xz; CMake 3.24.0\n"}), [])

    def test_finds_a_format_of_a_release_that_does_not_exist(self):
        self.expect("format 1 names 0.9.0", RELEASED, formats='    {1, "0.9.0"},\n')
        self.expect("has no rows", RELEASED, formats="")

    def test_finds_what_keeps_a_version_from_being_released(self):
        unreleased = "## [Unreleased]\n\n" + ENTRY
        self.assertEqual(len(self.breaches(unreleased, "0.2.0", formats='    {1, ""},\n')), 2)
        self.expect("has no section '[0.3.0] - YYYY-MM-DD'", unreleased + RELEASED, "0.3.0", version="0.3.0")
        self.expect("the version is 0.2.0, not 0.3.0", RELEASED, "0.3.0")
        self.expect("format 2 has no first release; write \"0.2.0\"", RELEASED, "0.2.0", formats='    {1, "0.1.0"},\n    {2, ""},\n')


if __name__ == "__main__":
    unittest.main()
