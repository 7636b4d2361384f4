# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Real programs, built here and recorded in every way: a recording must change neither exit code nor output, lose nothing, count
what CUPTI counts, and report no false error. corpus.txt describes the lists; tests/gpu/corpus makes the archive."""

import collections
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import statistics
import string
import tarfile
import time

import corpus_list
import corpus_sources
import corpus_table
from corpus_output import Expected
from harness import REPOSITORY, Trace, terms

# How a program is recorded: options of `record`, None for the library alone; the kind of program that it makes sense for, None for all.
WAYS = {
    "structure": (["--tier", "structure"], None),
    "times": (["--tier", "times"], None),
    "events": (["--tier", "events"], None),
    "args": (["--with", "args,alloc"], None),
    "accesses": (["--with", "accesses"], None),
    "nodes": (["--graphs", "nodes"], "graphs"),
    "stacks": (["--stacks", "all"], None),
    "event-times": (["--with", "event-times"], None),
    "preload": (None, None),
}
MEMORY_RULES = ("SS001", "SS002", "SS003", "SS004")
COUNTED = {kind: terms("op_kind.h", "kOpKinds").index(kind) for kind in ("kernel", "memcpy", "memset", "graph_launch")}  # op.kind of each
DATA_LOSS = terms("severity.h", "kSeverities").index("data_loss")
KEPT_BYTES = 40_000_000  # compressed a quarter of that, in the archive that a run leaves
LONGEST_BARE_SECONDS = 15
# Of programs that abort in a kernel, and of graphs that no tool of the Sanitizer leaves as they are.
EXPECTED_LOSSES = ("an error in a kernel ended the context", "the Compute Sanitizer breaks graphs with conditional nodes")
BUILD_SECONDS = 300
SECONDS_BETWEEN_SAVES = 5
CAUSES_WAY = "times"  # whose traces are checked for whether each cause of waiting was in the stream
MOST_CAUSES_OPS = 300_000  # of a trace whose causes are checked
CAUSES_SECONDS = 100
RUNS_OF_DOUBT = 6
WRITER_SECONDS = 10  # that a trace may take to its end after a program that was recorded without the launcher
BUILD_FLAGS = "-arch=sm_90 -O2 -g -w"


class Machine:
    """Where the corpus is on this machine, and what it is built with."""

    def __init__(self, harness, options):
        self.harness, self.options = harness, options
        self.folder = pathlib.Path(options.corpus_work).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        self.cuda = pathlib.Path(os.environ.get("CUDA_HOME") or pathlib.Path(nvcc).resolve().parents[1])
        self.modules = {}

    def unpack(self):
        """The programs, and the sources of other projects' programs from the archive, once for each archive."""
        archive = self.options.corpus
        if archive and archive.exists():
            mark, stamp = self.folder / "unpacked", hashlib.sha1(archive.read_bytes()).hexdigest()
            if not mark.exists() or mark.read_text() != stamp:
                shutil.rmtree(self.folder / "sources", ignore_errors=True)
                with tarfile.open(archive) as packed:
                    packed.extractall(self.folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
                mark.write_text(stamp)
            return corpus_list.read([self.folder / "list.txt"])[1]  # holds our own programs too
        why = f"{archive}: no such archive" if archive else "no --corpus"
        self.harness.skip("programs of other projects", f"{why}; make the archive with tests/gpu/corpus")
        return {name: program for name, program in corpus_list.read(corpus_list.LISTS)[1].items() if program.project.is_own}

    def top(self, program):
        return REPOSITORY if program.project.is_own else self.folder / "sources" / program.project.name

    def place(self, program):
        return self.folder / "bin" / program.file_name

    def variables(self, program):
        values = self.top(program), self.place(program), self.cuda, BUILD_FLAGS, self.harness.build, self.harness.python
        return dict(zip(corpus_list.VARIABLES, map(str, values)))

    def environment(self, program, extra=None):
        libraries = [self.harness.environment().get("LD_LIBRARY_PATH"), str(self.cuda / "lib64")]
        return {**self.variables(program), "PYTHONDONTWRITEBYTECODE": "1", "PATH": f"{self.cuda}/bin:{os.environ.get('PATH', '')}",
                "LD_LIBRARY_PATH": ":".join(filter(None, libraries)), **(extra or {})}

    def command(self, program):
        return shlex.split(string.Template(program.run).substitute(self.variables(program)))

    def run(self, command, program, timeout, extra=None):
        return self.harness.run(command, timeout, self.environment(program, extra), self.top(program) / program.folder)

    def missing_module(self, program):
        """The Python module that the program needs and this machine lacks, or None."""
        for module in program.needs:
            if module not in self.modules:
                self.modules[module] = self.harness.run([self.harness.python, "-c", f"import {module}"], 120).code == 0
            if not self.modules[module]:
                return module
        return None

    def build(self, program):
        """Builds a program unless that is done. Returns "" or why it cannot run."""
        module = self.missing_module(program)
        if module:
            return f"this Python has no {module}"
        if not program.build:
            return ""
        place = self.place(program)
        mark, stamp = place / ".built", f"{program.project.commit}\n{BUILD_FLAGS}\n{program.build}"
        if mark.exists() and mark.read_text() == stamp:
            return ""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        built = self.run(["sh", "-ec", program.build], program, BUILD_SECONDS)
        if built.code != 0:
            lines = [line for line in (built.err + built.out).splitlines() if "rror" in line or "undefined" in line]
            return f"not built: {lines[0][:200] if lines else built.why()[-200:]}"
        mark.write_text(stamp)
        return ""

    def reference(self):
        """The library that counts with CUPTI, or None."""
        library = self.folder / "cupti_counts.so"
        source = REPOSITORY / "tests/gpu/cupti_counts.cpp"
        folders = [self.cuda / "targets/x86_64-linux/lib", self.cuda / "extras/CUPTI/lib64", self.cuda / "lib64"]
        headers = [self.cuda / "include", self.cuda / "extras/CUPTI/include"]
        built = self.harness.run(
            ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", source, "-o", library, *(f"-I{folder}" for folder in headers),
             *(f"-L{folder}" for folder in folders), "-lcupti", *(f"-Wl,-rpath,{folder}" for folder in folders)], 120)
        if built.code != 0:
            self.harness.skip("counts of CUPTI", f"cupti_counts.cpp: {built.why()}")
            return None
        return library


def ended(code):
    """An exit code as a shell gives it: 128 and the signal after a signal."""
    return 128 - code if code is not None and code < 0 else code


def code_difference(wanted, got):
    """(kind of difference, text) between two exit codes that differ; None is a run that was ended after its limit."""
    if got is None:
        return "hang", f"ended after its limit; unrecorded exit code {wanted}"
    if got > 128 and got - 128 < 65:
        return "crash", f"signal {got - 128}; unrecorded exit code {wanted}"
    return "exit code", f"{got}; unrecorded {wanted}"


class Bare:
    """What a program does unrecorded; further runs show what varies."""

    def __init__(self, machine, program):
        self.machine, self.program, self.runs, self.codes = machine, program, [], set()
        self.limit = program.limit or LONGEST_BARE_SECONDS

    def again(self, times=1):
        """Runs it; False if one of the runs does not end."""
        for _ in range(times):
            finished = self.machine.run(self.machine.command(self.program), self.program, self.limit)
            if finished.code is None:
                return False
            self.runs.append(finished)
            self.codes.add(ended(finished.code))
        self.out = Expected([run.out for run in self.runs], self.program.output)
        self.err = Expected([run.err for run in self.runs], self.program.output)
        return True

    @property
    def seconds(self):
        return statistics.median(run.seconds for run in self.runs)

    @property
    def code(self):
        return ended(self.runs[0].code)

    def differences(self, finished):
        """[(kind, text)] of a recorded run; output is not compared after another end."""
        code = ended(finished.code)
        if code not in self.codes:
            return [code_difference(self.code, code)]
        return [("output", f"{stream}: {text}") for stream, text in
                (("stdout", self.out.difference(finished.out)), ("stderr", self.err.difference(finished.err))) if text]


def count_with_cupti(machine, program, library, nodes=False):
    """What CUPTI counts in all processes of a run, or None if one of them left no counts."""
    folder = machine.harness.work / f"counts.{program.file_name}.{int(nodes)}"
    folder.mkdir()
    extra = {"CUDA_INJECTION64_PATH": str(library), "CUPTI_COUNTS_FOLDER": str(folder)}
    machine.run(machine.command(program), program, 4 * LONGEST_BARE_SECONDS, {**extra, **({"CUPTI_COUNTS_NODES": "1"} if nodes else {})})
    total = collections.Counter()
    for path in folder.glob("*.json"):
        total.update(json.loads(path.read_text()))
    shutil.rmtree(folder)
    if not total or total.pop("dropped", 0):
        return None
    return {kind: total[kind] for kind in COUNTED}


def look_at_trace(machine, path):
    """Counts, losses and findings of a trace."""
    trace = Trace(path)
    try:
        kinds = trace.counted("SELECT kind, count(*) FROM op GROUP BY kind")
        found = {"finished": trace.meta("finished") == "1", "bytes": path.stat().st_size,
                 "counts": {name: kinds.get(number, 0) for name, number in COUNTED.items()}, "losses": trace.losses(DATA_LOSS)}
    finally:
        trace.close()
    start = time.monotonic()
    checked = machine.harness.run([machine.harness.streamscope, "check", path, "--format", "json", "--quiet"], 120)
    found.update(check_code=checked.code, check_seconds=round(time.monotonic() - start, 2), certain=[], suspected=0, possible=0, memory=0)
    if checked.code not in (0, 1, 3):
        found["check_why"] = checked.why()
        return found
    for finding in json.loads(checked.out)["findings"]:
        if finding["number"] in MEMORY_RULES:
            found["memory"] += 1
        if finding["confidence"] == "certain":
            found["certain"].append({key: finding[key] for key in ("number", "severity", "title", "text", "called_from")})
        else:
            found[finding["confidence"]] += 1
    return found


def check_causes(machine, path, is_shared):
    """What tests/causes/check_causes.py reports about a trace: "" if nothing is wrong, None if the trace is too large for it.
    Where programs run side by side, a GPU that another one uses makes what is unknown."""
    trace = Trace(path)
    ops = trace.value("SELECT count(*) FROM op")
    trace.close()
    if ops > MOST_CAUSES_OPS:
        return None
    checked = machine.harness.run([machine.harness.python, REPOSITORY / "tests/causes/check_causes.py", machine.harness.streamscope,
                                   *(["--shared"] if is_shared else []), path], CAUSES_SECONDS)
    if checked.code == 0:
        return ""
    return " | ".join(checked.out.splitlines()[:4]) or checked.why()


def traces_of(path):
    """The traces of one run. Without the launcher, a process that began before its parent used the GPU writes its own."""
    own = re.compile(re.escape(path.stem) + r"-\d+" + re.escape(path.suffix))
    return [path] * path.exists() + sorted(found for found in path.parent.iterdir() if own.fullmatch(found.name))


def look_at_traces(machine, paths):
    """What the traces of one run hold together."""
    together, *others = [look_at_trace(machine, path) for path in paths]
    for other in others:
        together["finished"] = together["finished"] and other["finished"]
        together["check_code"] = max(together["check_code"], other["check_code"])
        together["counts"] = {kind: count + other["counts"][kind] for kind, count in together["counts"].items()}
        for key in ("bytes", "check_seconds", "losses", "certain", "suspected", "possible", "memory"):
            together[key] = together[key] + other[key]
        if "check_why" in other:
            together["check_why"] = other["check_why"]
    return together


def record(machine, program, way, bare):
    """One recording. Returns its row."""
    harness = machine.harness
    path = harness.work / f"{program.file_name}.{way}.sqlite"
    command, extra = machine.command(program), None
    if WAYS[way][0] is None:
        extra = {"LD_PRELOAD": str(harness.collector), "STREAMSCOPE_OUTPUT": str(path)}
    else:
        command = [harness.streamscope, "record", "-o", path, "--force", "--quiet", *WAYS[way][0], "--", *command]
    finished = machine.run(command, program, machine.options.patience + 5 * bare.seconds, extra)
    if extra:
        for trace in traces_of(path):
            wait_for_writer(trace, WRITER_SECONDS)
    differences = bare.differences(finished)
    if differences and bare.again(RUNS_OF_DOUBT):  # is it the program that varies?
        differences = bare.differences(finished)
    row = {"code": ended(finished.code), "seconds": round(finished.seconds, 3), "differences": differences}
    if differences:
        row["said"] = finished.why()
    if path.exists():
        try:
            row.update(look_at_traces(machine, traces_of(path)))
            if way == CAUSES_WAY:
                row["causes"] = check_causes(machine, path, harness.jobs > 1)
        except (sqlite3.Error, ValueError, KeyError) as error:
            row["differences"].append(("trace", f"cannot be read: {error}"))
        if not row.get("finished") and not differences:
            row["differences"].append(("trace", "unfinished"))
        if row["differences"] or row.get("certain") or row.get("causes"):
            keep(harness, program, path, row)
    for trace in traces_of(path):
        trace.unlink()
    return row


def wait_for_writer(path, patience):
    """Waits until a trace of another process is finished and its rings are removed, or until a timeout."""
    end = time.monotonic() + patience
    while path.exists() and time.monotonic() < end:
        try:
            trace = Trace(path)
            is_finished = trace.meta("finished") == "1"
            trace.close()
        except sqlite3.Error:  # has no tables yet
            is_finished = False
        if is_finished and not path.with_name(path.name + ".rings").exists():
            return
        time.sleep(0.05)


def keep(harness, program, path, row):
    """Keeps a trace for inspection: the first of each program, as long as they are small together."""
    kept = list(harness.kept.iterdir())
    if row.get("finished") and not any(other.name.startswith(program.file_name + ".") for other in kept) \
            and sum(other.stat().st_size for other in kept) + row["bytes"] < KEPT_BYTES:
        harness.keep(path)


def unexplained(losses, row):
    """Those that neither a program's end by a signal explains, after which CUPTI delivers nothing, nor an error in a kernel."""
    losses = [loss for loss in losses if not loss.endswith(EXPECTED_LOSSES)]
    if row["bare"]["code"] <= 128:
        return losses
    return [loss for loss in losses if not loss.startswith("times-not-delivered ")]


def judge(harness, program, row):
    """The checks of one program's row."""
    for way, got in row["ways"].items():
        name = f"{program.name} {way}"
        for kind, text in got["differences"]:
            harness.check(f"{name}: {kind}", False, text)
        if not got["differences"]:
            harness.check(f"{name}: behaves as unrecorded", True)
        wanted = row["cupti"].get("nodes" if way == "nodes" else "launches")
        if "counts" not in got:
            if wanted and any(wanted.values()) and not got["differences"]:
                harness.check(f"{name}: trace", False, f"none was written; CUPTI counts {wanted}")
            continue
        losses = unexplained(got["losses"], row)
        harness.check(f"{name}: no loss", not losses, "; ".join(losses))
        if "check_why" in got:
            harness.check(f"{name}: check", False, got["check_why"])
        if got.get("causes") is not None:
            harness.check(f"{name}: causes", not got["causes"], got["causes"])
        if wanted and not got["losses"] and not got["differences"] and not row["cupti"].get("vary"):
            kinds = counts_differ(way, wanted, got["counts"])
            harness.check(f"{name}: counts of CUPTI", not kinds,
                          ", ".join(f"{kind} {got['counts'][kind]} instead of {wanted[kind]}" for kind in kinds))
    judge_findings(harness, program, row["ways"])


def counts_differ(way, wanted, got):
    """The kinds of work of which a recording has another number than CUPTI counts."""
    return [kind for kind in COUNTED if wanted[kind] != got[kind] and not (way == "nodes" and kind == "graph_launch")]


def judge_findings(harness, program, ways):
    """Certain errors must be confirmed by the list, and found if they are; likewise whether there are races."""
    looked = {way: got for way, got in ways.items() if "counts" in got}
    found = {}
    for way, got in looked.items():
        for finding in got["certain"]:
            found.setdefault(finding["number"], (finding, []))[1].append(way)
    for number, (finding, by) in found.items():
        if finding["severity"] == "error":
            harness.check(f"{program.name}: {number} is confirmed", number in program.confirmed,
                          f"recorded as {' '.join(by)}; confirm in the source, or mend: {finding['text']}")
    for number, line in program.confirmed.items():
        if looked:
            harness.check(f"{program.name}: {number} is found", number in found, line)
    if program.races and "args" in looked:
        memory = looked["args"]["memory"]
        harness.check(f"{program.name}: races are {program.races}", (memory > 0) == (program.races == "yes"), f"{memory} findings on memory")


def try_out(machine, program, library, is_over):
    """The correctness row of one program; "cut" if time was over before it was recorded in every way."""
    row = {"kinds": program.kinds, "project": program.project.name, "ways": {}, "cupti": {}}
    bare = Bare(machine, program)
    if not bare.again(2):
        row["not_run"] = f"takes longer than {bare.limit:g} s unrecorded"
        return row
    if library:
        row["cupti"]["launches"] = count_with_cupti(machine, program, library)
        if "graphs" in program.kinds:
            row["cupti"]["nodes"] = count_with_cupti(machine, program, library, True)
    for way, (_, kind) in WAYS.items():
        if way in machine.options.ways and (kind is None or kind in program.kinds):
            if is_over():
                row["cut"] = True
                break
            row["ways"][way] = record(machine, program, way, bare)
            if any(kind == "hang" for kind, _ in row["ways"][way]["differences"]):
                break  # the others would take as long
    wanted = row["cupti"].get("launches")
    if wanted and any("counts" in got and counts_differ(way, wanted, got["counts"]) for way, got in row["ways"].items() if way != "nodes"):
        row["cupti"]["vary"] = any(count_with_cupti(machine, program, library) != wanted for _ in range(2))  # by themselves?
    row["bare"] = {"code": bare.code, "codes": sorted(bare.codes), "seconds": round(bare.seconds, 3), "stdout": bare.out.describe(),
                   "stderr": bare.err.describe()}
    return row


def time_alone(machine, program, rounds):
    """Median seconds of whole runs, unrecorded and recorded in turns; None if one fails. Also what the check of causes reports
    of a program that has the GPU for itself."""
    spent = collections.defaultdict(list)
    path = machine.harness.work / "timed.sqlite"
    bare, causes = machine.command(program), None
    for _ in range(rounds):
        for way in ("bare", *corpus_table.TIMED_WAYS):
            recorded = [machine.harness.streamscope, "record", "-o", path, "--force", "--quiet", *WAYS[way][0], "--"] if way != "bare" else []
            finished = machine.run([*recorded, *bare], program, machine.options.patience)
            if finished.code is None:
                return None
            spent[way].append(finished.seconds)
            if way == CAUSES_WAY and causes is None and path.exists():
                causes = check_causes(machine, path, is_shared=False)
    return {"timing": {way: round(statistics.median(values), 4) for way, values in spent.items()}, "causes_alone": causes}


class Results:
    """The rows so far, of this run and of those that it resumes. Thread-safe."""

    def __init__(self, harness, machine):
        self.harness, self.own, self.saved = harness, machine.folder / "results.json", 0.0
        self.rows, self.facts = {}, facts_of(harness)
        for path in filter(None, (self.own, machine.options.resume)):
            if path.exists():
                self.rows.update(json.loads(path.read_text())["programs"])

    def row(self, program, stamp):
        """The program's row if it was made with this build and this entry, else a fresh one, also after it could not be built or was
        cut."""
        row = self.rows.get(program.name, {})
        if row.get("stamp") != stamp or row.get("cut") or "not_run" in row and "ways" not in row:
            self.rows[program.name] = {"stamp": stamp}
        return self.rows[program.name]

    def update(self, program, **facts):
        """Adds to a row; what is there is saved every few seconds, in case the run is cut short."""
        with self.harness.lock:
            self.rows[program.name].update(facts)
            if time.monotonic() > self.saved + SECONDS_BETWEEN_SAVES:
                self.save()

    def save(self):
        with self.harness.lock:
            self.saved = time.monotonic()
            text = json.dumps({**self.facts, "programs": self.rows}, indent=1)
            self.own.write_text(text)
            (self.harness.out / "corpus.json").write_text(text)


def part_of(programs, part):
    """Part K of N: every Nth, so that each part has some of all projects."""
    number, count = part
    return programs[number - 1::count]


def facts_of(harness):
    gpu = harness.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 30)
    version = harness.run([harness.streamscope, "--version"], 30)
    return {"date": time.strftime("%Y-%m-%d"), "gpu": gpu.out.strip(), "streamscope": version.out.strip(), "cores": os.cpu_count()}


def run(harness):
    options = harness.options
    machine = Machine(harness, options)
    programs = [program for program in machine.unpack().values() if options.programs.search(program.name)]
    programs = part_of(programs, options.part)
    results = Results(harness, machine)
    tools = hashlib.sha1(harness.collector.read_bytes() + harness.streamscope.read_bytes()).hexdigest()
    stamps = {program.name: hashlib.sha1(f"{tools}{program}".encode()).hexdigest() for program in programs}
    rows = {program.name: results.row(program, stamps[program.name]) for program in programs}

    def is_over():
        return time.monotonic() > harness.until

    def correctness(program, library):
        row = rows[program.name]
        if is_over():
            return
        if "ways" not in row:
            results.update(program, **try_out(machine, program, library, is_over))
        if "not_run" not in row:
            judge(harness, program, row)

    jobs, harness.jobs = harness.jobs, os.cpu_count() or 1
    reasons = harness.parallel([(machine.build, program) for program in programs])
    harness.jobs = jobs
    ready = []
    for program, reason in zip(programs, reasons):
        if reason is None or reason:
            results.update(program, project=program.project.name, kinds=program.kinds, not_run=reason or "building failed")
        else:
            ready.append(program)
    harness.log(f"  {len(ready)} of {len(programs)} programs built")
    results.save()
    if "correctness" in options.phases:
        library = machine.reference()
        harness.parallel([(correctness, program, library) for program in ready])
    if "timing" in options.phases:
        for program in ready:
            row = rows[program.name]
            if "timing" not in row and not row.get("not_run") and not is_over():
                results.update(program, project=program.project.name,
                               **(time_alone(machine, program, harness.rounds_of(3)) or {"timing": None}))
            if row.get("causes_alone") is not None:
                harness.check(f"{program.name} alone: causes", not row["causes_alone"], row["causes_alone"])
    if "sources" in options.phases:
        corpus_sources.run(harness, machine, [program for program in ready if not rows[program.name].get("not_run")], rows, results.update)
    for program in programs:
        if rows[program.name].get("not_run"):
            harness.skip(program.name, rows[program.name]["not_run"])
    wanted = {"correctness": "ways", "timing": "timing", "sources": "sources"}
    undone = [program for program in ready if not rows[program.name].get("not_run")
              and (rows[program.name].get("cut") or any(wanted[phase] not in rows[program.name] for phase in options.phases))]
    results.facts["left"] = len(undone)
    results.save()
    text = corpus_table.markdown(json.loads(results.own.read_text()))
    (harness.out / "corpus.md").write_text(text)
    harness.log(text)
    if undone:
        harness.log(f"  {len(undone)} programs are left for a run with --resume {harness.out / 'corpus.json'}")
