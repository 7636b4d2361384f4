# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What every section of tests/gpu/run needs: running programs with a limit, recording them, reading traces, and
keeping the list of checks. Standard library only."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import traceback

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TOOLKIT_LIBRARIES = (
    pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "targets/x86_64-linux/lib"
)
SMALL_TRACE_BYTES = 2_000_000


def terms(header, name):
    """The names of a list of the vocabulary, by number from 0."""
    text = (REPOSITORY / "profiler/vocabulary" / header).read_text()
    rows = re.search(rf"Term {name}\[\] = {{\n(.*?)^}};", text, re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r'{[\w:]+, "([^"]+)"', rows)


def new_trace(path):
    """A database with the tables and views of a trace and no rows."""
    real = sqlite3.connect(f"file:{REPOSITORY / 'traces/pipeline.sqlite'}?mode=ro", uri=True)
    statements = [sql for (sql,) in real.execute("SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY type")]
    real.close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    for sql in statements:
        database.execute(sql)
    return database


class Finished:
    """A program that ran. `code` is negative after a signal and None if it was ended for taking too long."""

    def __init__(self, command, code, out, err, seconds):
        self.command, self.code, self.out, self.err, self.seconds = command, code, out, err, seconds

    def lines(self):
        """The JSON objects among its lines of output."""
        found = []
        for line in self.out.splitlines():
            if line.startswith("{"):
                try:
                    found.append(json.loads(line))
                except ValueError:
                    pass
        return found

    def why(self):
        """The end of what it wrote, for a message."""
        text = " | ".join((self.err.strip() or self.out.strip()).splitlines()[-5:])
        return f"{' '.join(map(str, self.command))}: code {self.code} after {self.seconds:.1f} s: {text[-800:]}"


class Trace:
    """A recorded file, read through SQLite."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10,
                                        check_same_thread=False)

    def rows(self, sql, *arguments):
        return self.database.execute(sql, arguments).fetchall()

    def value(self, sql, *arguments):
        row = self.database.execute(sql, arguments).fetchone()
        return row[0] if row else None

    def counted(self, sql, *arguments):
        """{key: count} of a query of two columns."""
        return dict(self.rows(sql, *arguments))

    def meta(self, key):
        value = self.value("SELECT value FROM meta WHERE key = ?", key)
        return None if value is None else str(value)

    def losses(self, least_severity=2):
        """['name xCOUNT: detail'] of the losses at least so severe; 2 is data loss."""
        return [
            f"{name} x{count}" + (f": {detail}" if detail else "")
            for name, count, detail in self.rows(
                "SELECT name.value, count, detail.value FROM loss JOIN string AS name ON name.id = name_id"
                " LEFT JOIN string AS detail ON detail.id = detail_id WHERE severity >= ?",
                least_severity,
            )
        ]

    def collector(self):
        """What saw the calls of the newest process: text that begins with "interposed" or "cupti"."""
        return str(self.value("SELECT value FROM process JOIN string ON string.id = collector_id ORDER BY process.id DESC LIMIT 1"))

    def close(self):
        self.database.close()


class Harness:
    """Folders, log and the checks made so far. Thread-safe."""

    def __init__(self, build, out, work, jobs, rounds):
        self.build, self.out, self.work = pathlib.Path(build), pathlib.Path(out), pathlib.Path(work)
        self.jobs, self.rounds = jobs, rounds
        self.streamscope = self.build / "bin/streamscope"
        self.collector = self.build / "lib/libstreamscope_inject.so"
        self.section = ""
        self.source = ""  # --source of recordings that do not choose one themselves; "": the recorder decides
        self.until = float("inf")  # when a section that repeats itself ends, on time.monotonic()
        self.results = []  # (section, name, "PASS" | "FAIL" | "SKIP", message)
        self.lock = threading.RLock()
        self.out.mkdir(parents=True, exist_ok=True)
        self.kept = self.work / "kept"  # small traces for the repository
        self.kept.mkdir(exist_ok=True)
        self.log_file = open(self.out / "log.txt", "a", buffering=1)

    def close(self):
        self.log_file.close()

    # Checks.

    def announce(self, text):
        print(text, flush=True)

    def log(self, text):
        with self.lock:
            self.announce(text)
            self.log_file.write(text + "\n")

    def detail(self, text):
        """Into the log file only."""
        with self.lock:
            self.log_file.write(text + "\n")

    def result(self, name, verdict, message=""):
        with self.lock:
            self.results.append((self.section, name, verdict, message))
            self.detail(f"{verdict} {self.section}: {name}: {message}")
            if verdict != "PASS":
                self.announce(f"{verdict} {self.section}: {name}")  # the reason comes with the table

    def check(self, name, ok, message=""):
        self.result(name, "PASS" if ok else "FAIL", message)
        return bool(ok)

    def equal(self, name, expected, got, message=""):
        text = f"expected {expected!r}, got {got!r}" + (f" ({message})" if message else "")
        return self.check(name, expected == got, text)

    def skip(self, name, why):
        self.result(name, "SKIP", why)

    def budget(self, name, value, unit, limit, ok):
        """The line that `./dev bench` prints for a budget, and its check."""
        self.log(f"budget {name} {value:.4g} {unit} {limit:.4g} {'ok' if ok else 'miss'}")
        self.check(f"budget {name}", ok, f"{value:.4g} {unit}, limit {limit:.4g}")

    # Programs.

    def app(self, name):
        return self.build / "bin/apps" / name

    def environment(self, extra=None):
        environment = {
            key: value
            for key, value in os.environ.items()
            if key not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
            and not key.startswith("STREAMSCOPE_")
        }
        carried = self.build / "carried"  # libraries that tests/gpu/pack brought along
        if carried.is_dir():
            environment["LD_LIBRARY_PATH"] = f"{carried}:{environment.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        environment.update(extra or {})
        return environment

    def run(self, command, timeout=60, env=None, cwd=None, stdin=None):
        """Runs a program to its end or its limit; then its process group is killed."""
        command = [str(word) for word in command]
        env = self.environment(env)
        if any(word.endswith("_shared") for word in command) and TOOLKIT_LIBRARIES.is_dir():
            env["LD_LIBRARY_PATH"] = f"{env.get('LD_LIBRARY_PATH', '')}:{TOOLKIT_LIBRARIES}".lstrip(":")
        start = time.monotonic()
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, env=env, cwd=cwd or self.work, text=True,
                errors="replace", start_new_session=True,
            )
        except OSError as error:
            return Finished(command, 127, "", str(error), 0.0)
        try:
            out, err = process.communicate(stdin, timeout=timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            try:
                out, err = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:  # something it started holds the pipes
                out, err = "", "killed after its limit; its output was not available"
            code = None
        finished = Finished(command, code, out or "", err or "", time.monotonic() - start)
        self.detail(f"$ {' '.join(command)}  -> {code} in {finished.seconds:.2f} s")
        if code != 0:
            self.detail(f"  stdout: {finished.out[-2000:]}\n  stderr: {finished.err[-2000:]}")
        elif finished.err.strip():
            self.detail(f"  stderr: {finished.err[-1000:]}")
        return finished

    def is_over(self):
        return time.monotonic() > self.until

    def trace_path(self, name):
        """Where a recording of this name goes; each source has its own files."""
        return self.work / ".".join(filter(None, (name, self.source, "sqlite")))

    def record_words(self, path, *options):
        """The command line that records into a file, up to the program."""
        source = ["--source", self.source] if self.source and "--source" not in options else []
        return [self.streamscope, "record", "-o", path, "--force", *source, *options, "--"]

    def record(self, name, command, options=(), timeout=60, env=None):
        """Records a program into trace_path(NAME). Returns what the launcher did and the file."""
        path = self.trace_path(name)
        return self.run([*self.record_words(path, *options), *command], timeout, env), path

    def can_record(self, *options):
        """Whether `record` accepts these options, tried with a program that uses no CUDA."""
        finished = self.run([self.streamscope, "record", "-o", self.work / "options.sqlite", "--force", *options, "--", "true"], 30)
        return finished.code == 0

    def gpu(self):
        """Name and driver, for the head of a table."""
        return self.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 30).out.strip()

    def info(self, path, name):
        """`streamscope info --json` of a file, or None after a failed check."""
        finished = self.run([self.streamscope, "info", path, "--json"], 30)
        try:
            if finished.code == 0:
                return json.loads(finished.out)
        except ValueError:
            pass
        self.check(f"{name}: info --json", False, finished.why())
        return None

    def recorded(self, name, command, options=(), timeout=60, env=None):
        """Records a program that must end well. Returns its JSON lines and the open trace, or None."""
        finished, path = self.record(name, command, options, timeout, env)
        if not self.check(f"{name}: recorded", finished.code == 0 and path.exists(), finished.why()):
            return None
        try:
            return finished.lines(), Trace(path)
        except sqlite3.Error as error:
            self.check(f"{name}: trace opens", False, str(error))
            return None

    def keep(self, path, name=None):
        """Keeps a small trace for the repository, without the names of this machine's folders. Returns whether it did."""
        path = pathlib.Path(path)
        size = path.stat().st_size
        if size > SMALL_TRACE_BYTES:
            self.detail(f"not kept: {path.name} has {size} bytes")
            return False
        kept = self.kept / f"{name or path.stem}.sqlite"
        shutil.copyfile(path, kept)
        self.neutralize(kept)
        return True

    def neutralize(self, path):
        """Puts fixed names in the place of folders that only this machine has, and of the machine's own."""
        folders = {str(self.build): "/opt/streamscope", str(self.work): "/tmp/streamscope", str(REPOSITORY): "/src/streamscope"}

        def neutral(text):
            for folder, fixed in folders.items():
                text = text.replace(folder, fixed)
            # Sources bear the name that they had where they were compiled.
            return re.sub(r"(?<![^\s:\0=])/[^\s:\0]*?/(?=(libcoord|profiler|tests)/[^\s:\0]*\.(cpp|cu|cuh|h|py)\b)", "/src/streamscope/", text)

        database = sqlite3.connect(path)
        database.create_function("neutral", 1, neutral, deterministic=True)
        with database:
            database.execute("UPDATE string SET value = neutral(value)")
            database.execute("UPDATE string SET value = 'host' WHERE id IN (SELECT host_id FROM process)")
        database.execute("VACUUM")  # or the old texts stay in the file
        database.close()

    def parallel(self, tasks):
        """Runs (function, arguments...) tuples side by side; a crash of one is a failed check."""

        def guarded(task):
            try:
                return task[0](*task[1:])
            except Exception:  # a broken check must not take the others along
                self.check(f"{task[0].__name__} {task[1:2]}", False, traceback.format_exc()[-1500:])
                return None

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(guarded, tasks))

    def table(self, header, rows):
        """Prints aligned columns."""
        rows = [[str(cell) for cell in row] for row in [header, *rows]]
        widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
        for row in rows:
            self.log("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())

    def rounds_of(self, usual):
        """How often to repeat an alternated measurement."""
        return self.rounds or usual

    def finished_trace(self, folder, name, not_these=(), patience=20):
        """The one trace that a program recorded without the launcher left in `folder`, once its writer is done."""
        end = time.monotonic() + patience
        state = "no .sqlite file"
        while time.monotonic() < end:
            files = [path for path in folder.glob("*.sqlite") if path.name not in not_these]
            rings = list(folder.glob("*.rings"))
            if len(files) == 1:
                try:
                    trace = Trace(files[0])
                    if trace.meta("finished") == "1" and not rings:
                        return trace
                    state = f"{files[0].name}: finished {trace.meta('finished')}, rings {[path.name for path in rings]}"
                    trace.close()
                except sqlite3.Error as error:
                    state = f"{files[0].name}: {error}"
            elif files:
                state = f"several files: {[path.name for path in files]}"
            time.sleep(0.25)
        self.check(f"{name}: one finished trace within {patience} s", False, f"{state}; folder {sorted(p.name for p in folder.iterdir())}")
        return None
