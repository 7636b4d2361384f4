# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the corpus runner without a GPU: tiny programs that misbehave only when recorded, packed from a Git repository, built,
and recorded by a stand-in for streamscope. Each kind of misbehavior must be reported, and nothing else."""

import argparse
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import corpus  # noqa: E402
import corpus_list  # noqa: E402
import corpus_table  # noqa: E402
from corpus_output import Expected  # noqa: E402
from harness import REPOSITORY, Harness, new_trace  # noqa: E402

# Does $1 when RECORDED is set; its output has a time, an address and a random number.
PROGRAM = """#!/bin/sh
counts='{"kernel": 2, "memcpy": 0, "memset": 0, "graph_launch": 0, "dropped": 0}'
[ -n "$CUPTI_COUNTS_FOLDER" ] && echo "$counts" >$CUPTI_COUNTS_FOLDER/$$.json
echo "sum 42"
echo "took $(date +%N) ms at 0x$(date +%s)00"
echo "seed $(od -An -N4 -tu4 /dev/urandom)"
case "$RECORDED$1" in
  yescrash) kill -SEGV $$ ;;
  yescode) exit 3 ;;
  yesoutput) echo "wrong answer" ;;
  yeshang) sleep 60 ;;
  nofails|yesfails) exit 2 ;;
  noslow) sleep 60 ;;
esac
exit 0
"""

# Runs the program, and leaves a trace of two kernels, spoiled according to the program's last argument.
STREAMSCOPE = """#!{python}
import json, shutil, sqlite3, subprocess, sys
words = sys.argv[1:]
if words[0] == "--version":
    print("streamscope 0")
elif words[0] == "record":
    path, command = words[words.index("-o") + 1], words[words.index("--") + 1:]
    code = subprocess.run(command, env=dict(__import__("os").environ, RECORDED="yes")).returncode
    if command[-1] != "traceless":
        shutil.copyfile("{template}", path)
        database = sqlite3.connect(path)
        if command[-1] == "loss":
            database.execute("INSERT INTO loss(id, name_id, severity, count) VALUES (0, 0, 2, 7)")
        if command[-1] == "miscount":
            database.execute("DELETE FROM op WHERE id = 1")
        if "--source" in words:
            source = words[words.index("--source") + 1]
            database.execute("INSERT INTO string(id, value) VALUES (1, ?)", [source])
            database.execute("INSERT INTO process(id, collector_id) VALUES (0, 1)")
            if command[-1] == "sourced" and source == "interposed":
                database.execute("DELETE FROM op WHERE id = 1")
            if command[-1] == "unsteady":
                database.execute("DELETE FROM op WHERE id >= ?", ["cupti0.sqlite" in path])
        if command[-1] == "unfinished":
            database.execute("UPDATE meta SET value = 0 WHERE key = 'finished'")
        database.commit()
    print("streamscope: wrote", path, file=sys.stderr)
    sys.exit(128 - code if code < 0 else code)
else:
    kind = sys.argv[2].split("/")[-1].split(".")[0].split("_")[-1]
    def finding(confidence, number):
        return dict(number=number, severity="warning" if kind == "warned" else "error", title="t", text="a | b",
                    called_from="main.cu:3", confidence=confidence)
    print(json.dumps(dict(findings=[finding("certain", "SS005")] * (kind in ("certain", "confirmed", "warned"))
                                   + [finding("possible", "SS001")] * (kind in ("racy", "innocent")))))
    sys.exit(1 if kind == "certain" else 0)
"""

FAULTS = "good gone warned crash code output hang fails slow loss miscount unfinished traceless certain confirmed racy silent innocent sourced unsteady".split()
MORE = {"confirmed": "confirmed = SS005 main.cu:3 because", "gone": "confirmed = SS006 main.cu:4 because",
        "racy": "races = yes", "silent": "races = yes", "innocent": "races = no", "slow": "limit = 1"}


def git(folder, *words):
    identity = ["-c", "user.name=t", "-c", "user.email=t@t"]
    return subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True).stdout.strip()


def git_answer(*words):
    return subprocess.run(["git", "-C", str(REPOSITORY), *words], capture_output=True, check=False).returncode


class QuietHarness(Harness):
    def announce(self, text):
        pass


class Corpus(unittest.TestCase):
    """One run over all programs; each test checks its report on some."""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.make_sources()
        cls.make_list()
        cls.packed = cls.pack("--into", cls.folder / "corpus.tar.xz")
        cls.make_tools()
        cls.checks = cls.run_corpus()
        cls.rows = json.loads((cls.folder / "out/corpus.json").read_text())["programs"]
        cls.table = (cls.folder / "out/corpus.md").read_text()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def make_sources(cls):
        repository = cls.folder / "sources/fake"
        (repository / "programs").mkdir(parents=True)
        git(repository, "init", "-q")
        (repository / "programs/main.sh").write_text(PROGRAM)
        (repository / "helper.h").write_text("// used\n")
        git(repository, "add", ".")
        git(repository, "commit", "-qm", "first")
        cls.commit = git(repository, "rev-parse", "HEAD")
        (repository / "programs/main.sh").write_text("exit 1\n")  # a later commit, which must not be used
        git(repository, "commit", "-qam", "second")

    @classmethod
    def make_list(cls):
        entries = [f"[project fake]\nrepository = someone/fake\ncommit = {cls.commit}\n"]
        for fault in FAULTS:
            entries.append(f"[fake/{fault}]\nfolder = programs\nsources = helper.h\nbuild = cp main.sh $OUT/main\n  chmod +x $OUT/main\n"
                           f"run = $OUT/main {fault}\n{MORE.get(fault, '')}\n")
        entries.append("[fake/broken]\nfolder = programs\nbuild = echo 'main.cu: error: no such thing' >&2; exit 1\nrun = $OUT/main\n")
        entries.append("[fake/module]\nfolder = programs\nrun = $PYTHON main.py\nneeds = no_such_module_at_all\nkinds = python\n")
        cls.list = cls.folder / "list.txt"
        cls.list.write_text("\n".join(entries))

    @classmethod
    def pack(cls, *words):
        command = [sys.executable, REPOSITORY / "tests/gpu/corpus", cls.folder / "sources", "--list", cls.list, "--programs", "^fake/", *words]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)

    @classmethod
    def make_tools(cls):
        template = cls.folder / "template.sqlite"
        database = new_trace(template)
        database.execute("INSERT INTO meta VALUES ('finished', 1)")
        database.execute("INSERT INTO string(id, value) VALUES (0, 'ring-full')")
        database.executemany("INSERT INTO op(id, kind) VALUES (?, 0)", [(0,), (1,)])
        database.commit()
        database.close()
        for name, text in (("bin/streamscope", STREAMSCOPE.format(python=sys.executable, template=template)),
                           ("lib/libstreamscope_inject.so", "")):
            path = cls.folder / "build" / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            path.chmod(0o700)

    @classmethod
    def run_corpus(cls, **changes):
        os.environ["RECORDED"] = "no"
        (cls.folder / "work").mkdir(exist_ok=True)
        harness = QuietHarness(cls.folder / "build", cls.folder / "out", cls.folder / "work", 4, 1)
        harness.python = sys.executable
        harness.until = time.monotonic() + 100
        harness.options = argparse.Namespace(**{
            "corpus": cls.folder / "corpus.tar.xz", "corpus_work": cls.folder / "corpus", "part": (1, 1), "programs": re.compile("^fake/"),
            "phases": ["correctness", "timing"], "ways": list(corpus.WAYS), "resume": None, "patience": 5, **changes})
        whole = corpus.WAYS
        corpus.WAYS = {way: whole[way] for way in ("structure", "args", "nodes")}
        reference, corpus.Machine.reference = corpus.Machine.reference, lambda machine: "counts.so"
        timed, corpus_table.TIMED_WAYS = corpus_table.TIMED_WAYS, ("structure", "args")
        try:
            corpus.run(harness)
        finally:
            corpus.WAYS, corpus.Machine.reference, corpus_table.TIMED_WAYS = whole, reference, timed
            harness.close()
        return harness.results

    def verdicts(self, program, verdict="FAIL"):
        """What the run reports about a program, without its name."""
        start = f"fake/{program}"
        return [name.removeprefix(start).strip(" :") for _, name, got, _ in self.checks
                if got == verdict and re.match(re.escape(start) + r"( |:|$)", name)]

    def test_the_archive_is_packed_from_the_listed_commit(self):
        self.assertEqual(self.packed.returncode, 0, self.packed.stderr)
        self.assertRegex(self.packed.stdout, rf"fake +{len(FAULTS) + 2} programs +2 files")
        self.assertEqual((self.folder / "corpus/sources/fake/programs/main.sh").read_text(), PROGRAM)

    def test_sources_of_others_are_not_packed_where_git_would_commit_them(self):
        if git_answer("rev-parse", "--is-inside-work-tree") != 0:
            self.skipTest("no Git checkout")
        place = REPOSITORY / "tests/gpu/corpus.tar.xz"
        refused = self.pack("--into", place)
        self.assertEqual((refused.returncode, place.exists()), (2, False), refused.stderr)
        self.assertIn("Git would commit it", refused.stderr)

    def test_a_program_that_behaves_fails_no_check(self):
        self.assertEqual(self.verdicts("good"), [])
        self.assertEqual(len(self.verdicts("good", "PASS")), 6)  # behavior, losses and counts, each of two ways

    def test_a_program_that_fails_by_itself_is_no_difference(self):
        self.assertEqual(self.verdicts("fails"), [])
        self.assertEqual(self.rows["fake/fails"]["bare"]["code"], 2)

    def test_each_fault_is_reported(self):
        expected = {"crash": ["structure: crash", "args: crash"], "code": ["structure: exit code", "args: exit code"],
                    "output": ["structure: output", "args: output"], "hang": ["structure: hang"],
                    "loss": ["structure: no loss", "args: no loss"],
                    "miscount": ["structure: counts of CUPTI", "args: counts of CUPTI"],
                    "unfinished": ["structure: trace", "args: trace"], "traceless": ["structure: trace", "args: trace"],
                    "certain": ["SS005 is confirmed"], "confirmed": [], "gone": ["SS006 is found"], "warned": [],
                    "racy": [], "silent": ["races are yes"], "innocent": ["races are no"]}
        self.assertEqual({fault: self.verdicts(fault) for fault in expected}, expected)

    def test_what_cannot_run_is_skipped_with_its_reason(self):
        reasons = {name.split("/")[1]: message for _, name, verdict, message in self.checks if verdict == "SKIP"}
        self.assertEqual(reasons, {"broken": "not built: main.cu: error: no such thing", "slow": "takes longer than 1 s unrecorded",
                                   "module": "this Python has no no_such_module_at_all"})

    def test_the_table_lists_what_a_person_must_look_at(self):
        line = next(line for line in self.table.splitlines() if line.startswith("| fake |"))
        self.assertEqual([cell.strip() for cell in line.split("|")[2:13]],
                         [str(len(FAULTS) + 2), str(len(FAULTS) - 1), "1", "1", "1", "1", "1", "1", "2", "1", "2"])
        self.assertIn("| fake/certain | SS005 | structure args | a \\| b |", self.table)
        self.assertIn("| fake/warned | SS005 | warning | structure args | t |", self.table)
        self.assertIn("| fake/loss | structure | ring-full x7 |", self.table)
        self.assertIn("| fake/miscount | structure | kernel 1 | kernel 2 |", self.table)
        self.assertIn("| fake/fails | 2 |", self.table)
        self.assertRegex(self.table, r"\| fake/output \| structure \| output \| stdout: 1 lines more: 'wrong answer' \|")

    def test_a_second_run_goes_on_where_the_first_was_left(self):
        runs = self.folder / "out/log.txt"
        before = len(runs.read_text())
        checks = self.run_corpus(phases=["correctness"])
        again = runs.read_text()[before:]
        self.assertNotIn("record -o", again)  # nothing is recorded twice
        failures = [sorted(name for _, name, verdict, _ in some if verdict == "FAIL") for some in (checks, self.checks)]
        self.assertEqual(*failures)

    def run_apart(self, name, phases):
        """The row of the program that behaves, of a run in a separate folder."""
        self.run_corpus(corpus_work=self.folder / name, programs=re.compile("^fake/good$"), phases=phases)
        return json.loads((self.folder / name / "results.json").read_text())["programs"]["fake/good"]

    def test_a_program_is_cut_between_recordings_and_done_again(self):
        record = corpus.record

        def last_record(machine, *rest):
            machine.harness.until = 0
            return record(machine, *rest)

        with unittest.mock.patch.object(corpus, "record", last_record):
            cut = self.run_apart("cut", ["correctness"])
        self.assertEqual((cut["cut"], list(cut["ways"])), (True, ["structure"]))
        whole = self.run_apart("cut", ["correctness"])
        self.assertEqual(("cut" in whole, list(whole["ways"])), (False, ["structure", "args"]))

    def test_sources_of_calls_are_compared(self):
        checks = self.run_corpus(corpus_work=self.folder / "sources_work", phases=["sources"],
                                 programs=re.compile("^fake/(good|sourced|unsteady|hang|traceless)$"))
        failures = sorted(name for _, name, verdict, _ in checks if verdict == "FAIL")
        self.assertEqual(failures, ["fake/sourced sources: equal"])
        rows = json.loads((self.folder / "sources_work/results.json").read_text())["programs"]
        self.assertEqual(rows["fake/sourced"]["sources"]["differences"], [["ops", "kernel", 2, 1]])
        self.assertEqual((rows["fake/unsteady"]["sources"]["differences"], rows["fake/unsteady"]["sources"]["varies"]), ([], ["ops"]))
        self.assertEqual([rows[f"fake/{name}"]["sources"]["why"] for name in ("good", "hang", "traceless")],
                         ["", "ended after its limit", "no trace, exit code 0"])
        table = (self.folder / "out/corpus.md").read_text()
        self.assertIn("5 programs, 4 with the same counts", table)
        self.assertIn("| fake/sourced | ops | kernel | 2 | 1 |", table)

    def test_times_that_were_measured_alone_are_added_to_what_was_recorded(self):
        timed = self.run_apart("timed", ["timing"])
        self.assertNotIn("ways", timed)
        self.assertEqual(sorted(timed["timing"]), ["args", "bare", "structure"])
        merged = corpus_table.merged([self.folder / "corpus/results.json", self.folder / "timed/results.json"])["programs"]
        self.assertEqual(merged["fake/good"]["timing"], timed["timing"])
        self.assertEqual(merged["fake/good"]["ways"], self.rows["fake/good"]["ways"])
        self.assertEqual(merged["fake/crash"], self.rows["fake/crash"])

    def test_a_trace_of_another_process_is_awaited(self):
        path = self.folder / "late.sqlite"
        path.write_bytes(b"")  # no tables yet
        rings = self.folder / "late.sqlite.rings"
        rings.mkdir()

        def finish():
            time.sleep(0.2)
            path.write_bytes((self.folder / "template.sqlite").read_bytes())
            time.sleep(0.2)
            rings.rmdir()

        writer = threading.Thread(target=finish)
        start = time.monotonic()
        writer.start()
        corpus.wait_for_writer(path, 20)
        spent = time.monotonic() - start
        writer.join()
        self.assertTrue(0.4 <= spent < 10, spent)
        rings.mkdir()
        start = time.monotonic()
        corpus.wait_for_writer(path, 0.3)  # never ends
        corpus.wait_for_writer(self.folder / "none.sqlite", 20)
        self.assertTrue(0.3 <= time.monotonic() - start < 10)

    def test_parts_cover_all_programs_once(self):
        programs = list(range(17))
        parts = [corpus.part_of(programs, (number, 4)) for number in range(1, 5)]
        self.assertEqual(sorted(sum(parts, [])), programs)

    def test_a_missing_commit_or_source_is_named(self):
        right = self.list.read_text()
        try:
            self.list.write_text(right.replace(self.commit, "0" * 40))
            wrong = self.pack("--into", self.folder / "other.tar.xz")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("contains commit 0000", wrong.stderr)
            self.list.write_text(right.replace("sources = helper.h", "sources = gone.h", 1))
            wrong = self.pack("--into", self.folder / "other.tar.xz")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("fake/good: gone.h is not in", wrong.stderr)
        finally:
            self.list.write_text(right)
        small = self.pack("--into", self.folder / "other.tar.xz", "--limit", "0.0001")
        self.assertEqual((small.returncode, (self.folder / "other.tar.xz").exists()), (1, False), small.stderr)


class Lists(unittest.TestCase):
    def refusal(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.txt"
            path.write_text(text)
            with self.assertRaises(corpus_list.ListError) as caught:
                corpus_list.read([path])
            return str(caught.exception).removeprefix(f"{path}: ")

    def test_mistakes_are_named_with_their_place(self):
        project = "[project p]\nrepository = a/b\ncommit = " + "1" * 40 + "\n"
        for text, expected in (
                ("[project p]\nrepository = nowhere\n", "[project p]: repository must be OWNER/NAME or '.'"),
                ("[project p]\nrepository = a/b\ncommit = 12\n", "[project p]: commit must be 40 hex digits"),
                ("[q/x]\nfolder = .\nrun = x\n", "[q/x]: a program is named PROJECT/NAME, after its [project PROJECT]"),
                (project + "[p/x]\nrun = x\n", "[p/x]: folder and run are required"),
                (project + "[p/x]\nfolder = ../y\nrun = x\n", "[p/x]: paths must lie inside the repository"),
                (project + "[p/x]\nfolder = y\nrun = x\nkinds = fast\n",
                 "[p/x]: unknown kind fast; known are streams graphs driver processes python"),
                (project + "[p/x]\nfolder = y\nrun = x\nraces = maybe\n", "[p/x]: races must be yes or no"),
                (project + "[p/x]\nfolder = y\nrun = x\nconfirmed = SS005\n", "[p/x]: confirmed must be lines of 'SSnnn FILE:LINE reason'")):
            self.assertEqual(self.refusal(text), expected)
        for wrong in ("run = $(ELSE)", "run = $ELSE", "run = 'x", "run = x\nlimit = soon"):
            self.assertIn("[p/x]: limit must be a number of seconds, and run", self.refusal(project + f"[p/x]\nfolder = y\n{wrong}\n"))
        self.assertIn("unknown key flags", self.refusal(project + "[p/x]\nfolder = y\nrun = x\nflags = -g\n"))

    def test_a_list_survives_writing(self):
        projects, programs = corpus_list.read(corpus_list.LISTS)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list.txt"
            corpus_list.write(path, projects, programs)
            self.assertEqual(corpus_list.read([path]), (projects, programs))

    def test_every_listed_program_of_our_own_exists(self):
        programs = {name: program for name, program in corpus_list.read(corpus_list.LISTS)[1].items() if program.project.is_own}
        self.assertGreater(len(programs), 20)
        for program in programs.values():
            for word in program.run.split() + program.build.split():
                if word.startswith("$TOP/"):
                    self.assertTrue((REPOSITORY / word.removeprefix("$TOP/")).exists(), f"{program.name}: {word}")


    def test_programs_of_others_are_of_all_kinds_and_of_several_projects(self):
        programs = [program for program in corpus_list.read(corpus_list.LISTS)[1].values() if not program.project.is_own]
        self.assertGreaterEqual(len({program.project.name for program in programs}), 6)
        for kind, least in (("streams", 40), ("graphs", 20), ("driver", 10), ("processes", 5)):
            self.assertGreaterEqual(sum(kind in program.kinds for program in programs), least, kind)
        for program in programs:
            self.assertIn("$OUT", program.build, program.name)
            self.assertNotIn("/tmp", program.build + program.run, program.name)


class Traces(unittest.TestCase):
    """Without the launcher, a run may leave more than one trace."""

    def test_traces_of_all_processes_count(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "p_a.preload.sqlite"
            for name, kernels in (("p_a.preload.sqlite", 2), ("p_a.preload-77.sqlite", 3), ("p_a.preload-x.sqlite", 5), ("p_b.preload-78.sqlite", 7)):
                self.write_trace(path.with_name(name), kernels)
            self.assertEqual([found.name for found in corpus.traces_of(path)], ["p_a.preload.sqlite", "p_a.preload-77.sqlite"])
            found = corpus.look_at_traces(self.machine_that_finds("SS001"), corpus.traces_of(path))
            path.unlink()
            self.assertEqual([other.name for other in corpus.traces_of(path)], ["p_a.preload-77.sqlite"])
        self.assertEqual((found["counts"]["kernel"], found["finished"], found["losses"]), (5, False, ["ring-full x7"]))
        self.assertEqual([finding["number"] for finding in found["certain"]], ["SS001", "SS001"])

    def machine_that_finds(self, number):
        finding = {"number": number, "severity": "error", "title": "t", "text": "x", "called_from": "y", "confidence": "certain"}
        checked = argparse.Namespace(code=1, out=json.dumps({"findings": [finding]}))
        return argparse.Namespace(harness=argparse.Namespace(streamscope="streamscope", run=lambda command, limit: checked))

    def write_trace(self, path, kernels):
        database = new_trace(path)
        database.execute("INSERT INTO meta VALUES ('finished', ?)", (int(kernels != 3),))
        database.execute("INSERT INTO string(id, value) VALUES (0, 'ring-full')")
        database.executemany("INSERT INTO op(id, kind) VALUES (?, 0)", [(number,) for number in range(kernels)])
        if kernels == 3:
            database.execute("INSERT INTO loss(id, name_id, severity, count) VALUES (0, 0, 2, 7)")
        database.commit()
        database.close()


class Reference(unittest.TestCase):
    def test_the_library_that_counts_compiles(self):
        headers = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"
        if not (headers / "cupti.h").exists() or not shutil.which("g++"):
            self.skipTest("no CUPTI headers or no g++")
        built = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{headers}",
                                REPOSITORY / "tests/gpu/cupti_counts.cpp"], capture_output=True, text=True, check=False)
        self.assertEqual(built.returncode, 0, built.stderr)


class Output(unittest.TestCase):
    def difference(self, runs, other, left_out=""):
        return Expected(runs, left_out).difference(other)

    def test_measurements_and_addresses_are_not_compared(self):
        self.assertEqual(self.difference(["n 5\nTime: 3.1 ms\nat 0x7f0012345678\n12.5 GB/s\n"] * 2,
                                         "n 5\nTime: 9.9 ms\nat 0x7faaaaaaaaaa\n99 GB/s\n"), "")
        self.assertEqual(self.difference(["kernel 2.5ms, 3 s\n"] * 2, "kernel 7.25ms, 4 s\n"), "")

    def test_results_are(self):
        self.assertEqual(self.difference(["sum 5\n"] * 2, "sum 6\n"), "line 1: 'sum 5' became 'sum 6'")
        self.assertEqual(self.difference(["PASS\n"] * 2, ""), "1 lines missing: 'PASS'")

    def test_what_varies_between_unrecorded_runs_is_learned(self):
        runs = ["seed 1 ok\n", "seed 2 ok\n"]
        self.assertEqual(self.difference(runs, "seed 3 ok\n"), "")
        self.assertEqual(self.difference(runs, "seed 3 bad\n"), "line 1: 'seed * ok' became 'seed 3 bad'")

    def test_threads_may_write_in_any_order(self):
        runs = ["a\nb\n", "b\na\n"]
        self.assertEqual(self.difference(runs, "b\na\n"), "")
        self.assertNotEqual(self.difference(runs, "b\nc\n"), "")

    def test_output_that_never_repeats_is_not_compared(self):
        expected = Expected(["a\n", "a\nb\n"])
        self.assertEqual((expected.describe(), expected.difference("anything")), ("varies", ""))
        self.assertEqual(Expected(["a\n"], "ignored").describe(), "ignored")

    def test_messages_of_the_recorder_are_left_out(self):
        self.assertEqual(self.difference(["x\n y\n"] * 2, "streamscope: wrote t.sqlite\n  3 stacks\nx\n y\nstreamscope: done\n"), "")
        self.assertNotEqual(self.difference(["x\n y\n"] * 2, "x\n y\n  3 stacks\n"), "")

    def test_lines_can_be_left_out(self):
        self.assertEqual(self.difference(["x 1\ny 2\n"] * 2, "x 9\ny 2\n", "^x"), "")


if __name__ == "__main__":
    unittest.main()
