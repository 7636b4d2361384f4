#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The tests of the documentation notice what is wrong: unknown options, other output, hanging commands, broken links."""

import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import check_site
import options
import pages
import run
import session
import shown_output

FAKE_PROGRAM = """#!/bin/sh
case "$*" in
  --help) printf 'Commands\\n  record   records\\n  report   reports\\n' ;;
  'record --help') printf '  -o, --output FILE\\n  --hang-timeout S\\n' ;;
  'report --help') printf '  --format NAME\\n' ;;
  record*) sleep 1000 & echo "recorded 12 kernels in 3.2 ms" ;;
  report) echo nothing; exit 3 ;;
esac
"""


def page(text):
    return textwrap.dedent(text).replace("'''", "```").lstrip("\n")


class Pages(unittest.TestCase):
    def test_a_block_has_marks_language_and_commands(self):
        block = pages.blocks(page("""
            <!-- needs: gpu -->
            <!-- before: mkdir a -->

            '''sh
            one --x   # says something
            for i in 1 2; do
              two $i
            done
            three \\
              four
            '''
        """))[0]
        self.assertEqual(([("gpu", "")], "mkdir a"), (block.needs, block.before))
        self.assertEqual(["one", "for", "three"], [command.text.split()[0] for command in block.commands()])
        self.assertEqual([5, 6, 9], [command.line for command in block.commands()])

    def test_a_mark_does_not_reach_past_text_or_another_block(self):
        blocks = pages.blocks(page("""
            <!-- needs: gpu -->
            text
            '''sh
            one
            '''
            <!-- exit: 1 -->
            '''sh
            two
            '''
            '''sh
            three
            '''
        """))
        self.assertEqual([([], 0), ([], 1), ([], 0)], [(block.needs, block.exit_code) for block in blocks])

    def test_needs_of_some_commands(self):
        block = pages.blocks("<!-- needs: display in view -->\n```sh\nreport\nview\n```\n")[0]
        self.assertEqual([[], ["display"]], [block.needs_of(command.text) for command in block.commands()])

    def test_console_blocks_have_outputs(self):
        commands = pages.blocks("```console\n$ a \\\n    b\n1\n\n2\n$ c\n```\n")[0].commands()
        self.assertEqual([("a \\\n    b", "1\n\n2\n"), ("c", "")], [(command.text, command.output) for command in commands])

    def test_a_command_that_stands_in_has_the_shown_output(self):
        block = pages.blocks("<!-- run: cat x -->\n```console\n$ ./dev demo\nshown\n```\n")[0]
        self.assertEqual([("cat x", "shown\n")], [(command.text, command.output) for command in block.commands()])
        self.assertEqual(["./dev demo"], [command.text for command in block.shown_commands()])

    def test_mistakes_of_a_page_are_refused(self):
        for text, expected in (("```\nx\n```\n", "without a language"), ("```sh\nx\n", "does not end"), ("```sh\nfor\n```\n", "no whole command"),
                               ("<!-- needed: gpu -->\n```sh\nx\n```\n", "no mark 'needed'"), ("<!-- needs: gpus -->\n```sh\nx\n```\n", "no such need"),
                               ("```console\noutput\n```\n", "begins with"), ("<!-- run: x -->\n```cpp\nx\n```\n", "for blocks of output")):
            with self.assertRaisesRegex(pages.PageError, expected):
                for block in pages.blocks(text):
                    block.commands()


class Output(unittest.TestCase):
    def test_measurements_may_differ(self):
        self.assertEqual("", shown_output.difference("took 3.2 ms (12 %), 4,711 times\n ── a ──  b", "took 14 µs  (3 %), 999 times\n─── a ─  b\n"))

    def test_words_and_counts_may_not(self):
        self.assertIn("+rank 3 is late", shown_output.difference("rank 2 is late", "rank 3 is late"))
        self.assertIn("-two", shown_output.difference("one\ntwo", "one"))
        self.assertTrue(shown_output.difference("one", "one\nmore"))

    def test_an_ellipsis_stands_for_anything(self):
        self.assertEqual("", shown_output.difference("a … z\n…\nend", "a b c z\n1\n2\nend"))
        self.assertEqual("", shown_output.difference("a\n…", "a"))
        self.assertTrue(shown_output.difference("a …\nend", "b\nend"))


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.folder)], check=False)
        program = self.folder / "bin/streamscope"
        program.parent.mkdir()
        program.write_text(FAKE_PROGRAM)
        program.chmod(0o755)
        self.program = str(program)

    def run_page(self, text, *arguments):
        path = self.folder / "page.md"
        path.write_text(page(text))
        done = subprocess.run([sys.executable, run.__file__, "--build", str(self.folder), *arguments, str(path)], capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_what_is_right_passes_and_is_counted(self):
        code, said = self.run_page("""
            <!-- file: data/x -->
            '''text
            content
            '''
            <!-- before: export NAME=world -->
            '''console
            $ cd data; cat x
            content
            $ echo "hello $NAME in ${PWD##*/}"
            hello world in data
            '''
            <!-- exit: 3 -->
            '''sh
            streamscope report
            '''
        """)
        self.assertEqual(0, code, said)
        self.assertIn("3 commands ran, 2 outputs were compared, 0 commands were only checked, 0 mistakes", said)

    def test_what_is_wrong_fails_and_is_named(self):
        for text, expected in (("'''sh\nfalse\n'''", "page.md:2: exit code 1 instead of 0"), ("'''console\n$ echo a\nb\n'''", "the output differs"),
                               ("'''sh\nstreamscope record --outptu x\n'''", "streamscope record has no option --outptu"),
                               ("<!-- needs: gpu root -->\n'''sh\nstreamscope recall\n'''", "no command 'recall'"),
                               ("use `streamscope report --fromat x`", "no option --fromat"), ("'''yaml\n  - streamscope report --x -- a\n'''", "no option --x"),
                               ("'''\nls\n'''", "without a language"), ("'''sh\n./dev biuld\n'''", "no verb 'biuld'")):
            code, said = self.run_page(text)
            self.assertEqual(1, code, text)
            self.assertIn(expected, said)

    def test_a_command_that_serves_is_interrupted(self):
        serve = "import signal, sys, time; signal.signal(2, lambda *_: sys.exit(0)); print('served', flush=True); time.sleep(60)"
        code, said = self.run_page(f"<!-- interrupt: served -->\n'''sh\npython3 -c \"{serve}\"\n'''")
        self.assertEqual(0, code, said)
        code, said = self.run_page("<!-- interrupt: served -->\n'''sh\ntrap '' INT; echo served; sleep 0.2; exit 4\n'''")
        self.assertEqual(1, code, said)

    def test_a_measurement_may_miss_its_limits(self):
        for code, expected in ((1, 0), (2, 1)):
            found, said = self.run_page(f"<!-- measures: exit -->\n'''sh\n(exit {code})\n'''")
            self.assertEqual(expected, found, said)

    def test_commands_of_a_clone_run_in_it(self):
        text = "<!-- needs: checkout -->\n'''console\n$ echo \"${PWD##*/} $CPATH\"\nclone\n'''\n'''console\n$ echo \"${PWD##*/}\"\nwork\n'''"
        clone = self.folder / "clone"
        clone.mkdir()
        code, said = self.run_page(text, "--checkout", str(clone))
        self.assertEqual(0, code, said)
        self.assertIn("2 commands ran, 2 outputs", said)
        code, said = self.run_page(text)
        self.assertEqual(0, code, said)
        self.assertIn("checkout: page.md:3", said)

    def test_what_is_missing_is_said(self):
        code, said = self.run_page("<!-- needs: program:no-such-program -->\n'''sh\nno-such-program --now\n'''")
        self.assertEqual(0, code, said)
        self.assertIn("program:no-such-program: page.md:3: no-such-program --now", said)
        self.assertIn("0 commands ran", said)

    def test_options_after_the_program_are_its_own(self):
        known = options.Known(self.program)
        self.assertEqual([], list(known.mistakes("RANK=1 srun -n 2 streamscope record -o x --hang-timeout=3 -- ./app --its-own | cat -n")))
        self.assertEqual([], list(known.mistakes("sudo apt purge streamscope streamscope-viewer")))
        self.assertEqual(1, len(list(known.mistakes("a && streamscope record --format x"))))


class Sessions(unittest.TestCase):
    def test_what_hangs_or_stays_is_ended(self):
        environment = {"PATH": "/usr/bin:/bin"}
        began = time.monotonic()
        with session.Session(environment, {}) as shell:
            self.assertEqual((None, "begun\n"), shell.run("echo begun; sleep 1001", time_limit_s=5))
            self.assertEqual((0, ""), shell.run("cat", 60))  # nothing to read
            code, number = shell.run("setsid sleep 1002 >/dev/null 2>&1 & echo $!", 60)
            self.assertEqual(0, code)
            work = shell.folder
        self.assertFalse(pathlib.Path(f"/proc/{number.strip()}").exists())
        self.assertEqual([], session.children())
        self.assertFalse(work.exists())
        self.assertLess(time.monotonic() - began, 500)  # not until they end


class Site(unittest.TestCase):
    def breaches(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return "\n".join(check_site.breaches(pathlib.Path(folder)))

    def test_broken_links_and_raw_markdown_are_found(self):
        found = self.breaches({
            "index.html": '<h1 id="top">x</h1><a href="#top">a</a><a href="a/#there">b</a><a href="a/#missing">c</a><a href="gone.png">d</a>',
            "a/index.html": '<p id="there">| a | b |</p>\n<code>| fine |</code><a href="https://example.com/x">e</a>',
        })
        for expected in ("a/#missing: no such anchor", "gone.png: no such file", "a/index.html: shows Markdown", "no search/search_index.json"):
            self.assertIn(expected, found)
        self.assertNotIn("#there", found)
        self.assertEqual(4, len(found.splitlines()), found)

    def test_a_page_that_search_does_not_know_is_found(self):
        found = self.breaches({"index.html": "", "ci/index.html": "", "search/search_index.json": '{"docs": [{"location": "", "title": "x"}]}'})
        self.assertIn("search does not know ci/", found)
        self.assertIn("search does not find 'CI'", found)

    def test_a_folder_without_a_site_is_refused(self):
        self.assertIn("no index.html", self.breaches({}))


if __name__ == "__main__":
    unittest.main()
