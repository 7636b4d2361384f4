# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What is run under faults: ways to record a program, and commands that read or change a trace."""

import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

TRACE = "t.sqlite"
# Short rings: a recording takes a tenth of a second, most of it without faults.
RING_RECORDS = "4096"


class Build:
    """The programs of a build folder."""

    def __init__(self, folder):
        self.folder = folder = Path(folder).resolve()
        self.streamscope = folder / "bin" / "streamscope"
        self.library = folder / "lib" / "libstreamscope_inject.so"
        self.target = folder / "bin" / "tests" / "faults_target"
        self.linked = folder / "bin" / "tests" / "faults_linked_target"
        self.injector = folder / "lib" / "libfaults_injector.so"

    def missing(self):
        return [str(path) for path in (self.streamscope, self.library, self.target, self.linked, self.injector) if not path.exists()]

    def environment(self, extra=None):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("STREAMSCOPE_", "FAULTS_", "LD_"))}
        return {**kept, "STREAMSCOPE_RING_RECORDS": RING_RECORDS, **(extra or {})}


@dataclass
class Scene:
    """One thing that is run. `words` may contain {placeholders} of `Build` and {folder}."""
    name: str
    words: list
    target: list = None         # the program that is recorded, as it runs bare
    launched: bool = False      # by `streamscope record`, which is then the process that we start
    environment: dict = field(default_factory=dict)
    fixture: str = None         # folder that the scene starts from
    writes: bool = False        # a new trace; takes --force
    part: str = ""              # file that becomes the output; stays where no name can be changed any more
    seconds: float = 60         # on a machine with much else to do

    @property
    def records(self):
        return self.target is not None


RECORD = ["{streamscope}", "record", "-o", TRACE]
PLAIN = [*RECORD, "--stacks", "none"]  # naming the functions of stacks takes half of the time
WORK = ["{target}", "--threads", "1", "--children", "1", "--code", "7"]

SCENES = [
    Scene("record", [*RECORD, "--", *WORK], WORK, True),
    Scene("record-code-0", [*PLAIN, "--", "{target}"], ["{target}"], True),
    Scene("preload", WORK, WORK, False, {"LD_PRELOAD": "{library}", "STREAMSCOPE_OUTPUT": TRACE, "STREAMSCOPE_STACKS": "none", "STREAMSCOPE_BIN": "{folder}/streamscope"}),
    Scene("linked", ["{linked}", *WORK[1:]], WORK, False, {"STREAMSCOPE_OUTPUT": TRACE, "STREAMSCOPE_STACKS": "none", "STREAMSCOPE_BIN": "{folder}/streamscope"}),
    Scene("flight-recorder", [*PLAIN, "--flight-recorder", "1", "--", *WORK], WORK, True),
    Scene("hang", [*RECORD, "--hang-timeout", "0.1", "--", "{target}", "--still", "350", "--code", "7"],
          ["{target}", "--still", "350", "--code", "7"], True),
    Scene("blank-in-path", [*PLAIN, "--", "{target}"], ["{target}"], True, {"STREAMSCOPE_INJECT": "{folder}/a b/libstreamscope_inject.so"}),
    Scene("recover", ["{streamscope}", "info", TRACE], fixture="killed"),
    Scene("recover-early", ["{streamscope}", "info", TRACE], fixture="killed-early"),
    Scene("analyze", ["{streamscope}", "analyze", TRACE], fixture="trace"),
    Scene("info", ["{streamscope}", "info", "--json", TRACE], fixture="trace"),
    Scene("check", ["{streamscope}", "check", TRACE], fixture="trace"),
    Scene("report", ["{streamscope}", "report", "--format", "html", "-o", "out.html", TRACE], fixture="trace"),
    Scene("export", ["{streamscope}", "export", "--to", "perfetto", "-o", "out.pftrace", TRACE], fixture="trace"),
    Scene("metrics", ["{streamscope}", "metrics", "-o", "out.prom", TRACE], fixture="trace", part="out.prom.part"),
    Scene("merge", ["{streamscope}", "merge", "-o", "out.sqlite", TRACE, "u.sqlite"], fixture="two", writes=True),
    Scene("import", ["{streamscope}", "import", "-o", TRACE, "profile.json"], fixture="profile", writes=True),
]


def scene(name):
    return next(found for found in SCENES if found.name == name)


def filled(words, build, folder):
    places = {"streamscope": build.streamscope, "library": build.library, "target": build.target, "linked": build.linked, "folder": folder}
    return [str(word).format(**places) for word in words]


def profile():
    """A small profile of PyTorch: two streams, an event between them."""
    events = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 3,
               "args": {"correlation": i}} for i in range(1, 40)]
    events += [{"ph": "X", "cat": "kernel", "name": "sum", "pid": 0, "tid": 7 + i % 2, "ts": 10 * i + 5, "dur": 4,
                "args": {"device": 0, "context": 1, "stream": 7 + i % 2, "correlation": i}} for i in range(1, 40)]
    return json.dumps({"schemaVersion": 1, "traceEvents": events})


def is_finished(ring):
    """Its magic is written last. A program that is killed before leaves a file that nobody reads."""
    with open(ring, "rb") as file:
        return any(file.read(8))


class Fixtures:
    """What scenes start from; made once."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        folder.mkdir(parents=True)
        (folder / "profile").mkdir()
        (folder / "profile" / "profile.json").write_text(profile())
        for name in ("trace", "two"):
            (folder / name).mkdir()
        self.record(folder / "trace" / TRACE)
        self.record(folder / "two" / TRACE)
        self.record(folder / "two" / "u.sqlite")
        self.kill("killed", has_trace=True)
        self.kill("killed-early", has_trace=False)

    def record(self, trace):
        words = filled([*RECORD[:-1], str(trace), "--", *WORK], self.build, self.folder)
        subprocess.run(words, env=self.build.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20,
                       check=False)
        if not trace.exists():
            raise SystemExit(f"faults: {' '.join(words)} made no trace")

    def kill(self, name, has_trace):
        """Program and recorder are killed together: as soon as there is a ring, before there is a trace, or a while later. A busy
        machine may take several tries."""
        folder = self.folder / name
        trace = folder / TRACE
        words = filled([*PLAIN, "--", "{target}", "--still", "5000"], self.build, folder)

        def has_ring():
            return any(is_finished(ring) for ring in folder.glob("*.rings/*.ring"))

        for _ in range(20):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            recorder = subprocess.Popen(words, env=self.build.environment(), cwd=folder, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
            end = time.monotonic() + 10
            while time.monotonic() < end and not (trace.exists() if has_trace else has_ring()):
                time.sleep(0.0005)
            time.sleep(0.15 if has_trace else 0)
            os.killpg(recorder.pid, signal.SIGKILL)
            recorder.wait()
            if has_ring() and trace.exists() == has_trace:
                return
        raise SystemExit(f"faults: the killed recorder left no rings {'and' if has_trace else 'without'} a trace in {folder}")

    def put(self, scene_, folder):
        """A fresh folder with what the scene starts from."""
        folder.mkdir(parents=True)
        if scene_.fixture:
            shutil.copytree(self.folder / scene_.fixture, folder, dirs_exist_ok=True)
        if scene_.name in ("preload", "linked"):
            wrapper = folder / "streamscope"
            wrapper.write_text(f'#!/bin/sh\nLD_PRELOAD="$FAULTS_INJECTOR" exec {self.build.streamscope} "$@"\n')
            wrapper.chmod(0o755)
        if scene_.name == "blank-in-path":
            (folder / "a b").mkdir()
            (folder / "a b" / "libstreamscope_inject.so").symlink_to(self.build.library)
