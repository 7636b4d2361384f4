# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch: a program that starts PyTorch's own profiler (Kineto) itself, several processes in one trace, and step times in
alternation."""

import collections
import json
import statistics
import subprocess
import threading

from harness import REPOSITORY

SCRIPT = REPOSITORY / "tests/apps/torch_streams.py"


def is_available(harness):
    """True if there is a PyTorch that sees a GPU; prints the result."""
    available = harness.run([harness.python, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"], 60)
    if available.code != 0 or "True" not in available.out:
        harness.skip("torch", f"no PyTorch with a GPU: {available.why()}")
        return False
    harness.log(f"  PyTorch {available.out.strip()}")
    return True


def inner_profiler(harness):
    """The program starts torch.profiler itself: it ends normally, its user is warned, the trace reports what is missing."""
    finished, path = harness.record("torch_inner", [harness.python, SCRIPT, "--steps", 10, "--inner-profiler"], timeout=120)
    if not harness.check("a program with its own profiler ends normally", finished.code == 0 and path.exists(), finished.why()):
        return
    info = harness.info(path, "torch_inner")
    said = [line for line in finished.err.splitlines() if "streamscope" in line.lower()]
    harness.check("its user is warned", said, f"stderr: {finished.err[-400:]}")
    # CUPTI 13.0 refuses the second subscriber: then the other profiler misses everything, and reports that.
    expected = "profiler-refused" if "MULTIPLE_SUBSCRIBERS" in finished.err else "profiler-conflict"
    harness.check(f"the trace marks it as loss {expected}", info and any(loss["name"] == expected for loss in info["losses"]),
                  f"losses {info and info.get('losses')}")


def two_processes(harness):
    command = [harness.python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2, SCRIPT,
               "--steps", 5, "--warm-up", 5, "--distributed"]
    recording = harness.recorded("torchrun", command, timeout=150,
                                 env={"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"})
    if recording is None:
        return
    lines, trace = recording
    harness.equal("torchrun: processes that reported", 2, len([line for line in lines if "app" in line]))
    kernels = trace.rows("SELECT context.process_id, count(*) FROM op JOIN stream ON stream.id = stream_id"
                         " JOIN context ON context.id = context_id WHERE op.kind = 0 GROUP BY 1")
    harness.check("torchrun: two processes in one trace, with the same number of kernels", len(kernels) == 2 and kernels[0][1] == kernels[1][1] > 0, str(kernels))
    harness.equal("torchrun: losses", [], trace.losses())
    trace.close()


class Player:
    """A process of the script that measures on request."""

    def __init__(self, harness, command):
        self.errors = open(harness.work / f"player-{id(self)}.err", "w+")
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env=harness.environment(), cwd=harness.work, start_new_session=True)

    def answer(self, seconds=60):
        """The next JSON line, or None."""
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if line.startswith("{"):
                    return json.loads(line)
        finally:
            timer.cancel()
        return None

    def turn(self):
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except OSError:
            return None
        return self.answer()

    def end(self):
        try:
            self.process.stdin.close()
            self.process.wait(timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
        self.errors.seek(0)
        text = self.errors.read()
        self.errors.close()
        return text


def step_times(harness):
    """ms per step: two processes for each way, all waiting, one measuring at a time, in alternation."""
    script = [harness.python, SCRIPT, "--turns", "--steps", 60]

    def recorded(tier, number, source="auto"):
        path = harness.work / f"turns.{tier}.{source}.{number}.sqlite"
        return [harness.streamscope, "record", "-o", path, "--force", "--tier", tier, "--source", source, "--", *script]

    def flight(number):
        path = harness.work / f"turns.flight.{number}.sqlite"
        return [harness.streamscope, "record", "-o", path, "--force", "--flight-recorder", 8, "--", *script]

    ways = {
        "bare": lambda number: script,
        "structure": lambda number: recorded("structure", number),
        "structure by callbacks": lambda number: recorded("structure", number, "cupti"),
        "flight recorder": flight,
        "times": lambda number: recorded("times", number),
        "Kineto": lambda number: [*script, "--kineto", "unused"],
    }
    players = [(way, Player(harness, command(number))) for number in range(2) for way, command in ways.items()]
    ready = [player.answer(120) is not None for _, player in players]
    found = collections.defaultdict(list)
    if all(ready):
        for number in range(1 + harness.rounds_of(7)):
            for way, player in players:
                answer = player.turn()
                if answer and number > 0:  # the first turn warms up
                    found[way].append(answer["step_ms"])
    messages = [player.end() for _, player in players]
    complete = all(ready) and set(found) == set(ways)
    harness.check("step times measured", complete, f"ready {ready}, found {dict(found)}, {[text[-200:] for text in messages if text] if not complete else ''}")
    if not found:
        return
    bare = statistics.median(found["bare"]) if found["bare"] else float("nan")
    harness.log("  ms per training step, medians over two processes each, in alternation")
    harness.table(["way", "ms", "low", "high", "against bare"],
                  [(way, f"{statistics.median(values):.3f}", f"{min(values):.3f}", f"{max(values):.3f}",
                    f"{100 * (statistics.median(values) / bare - 1):+.1f} %") for way, values in found.items() if values])


def run(harness):
    if not is_available(harness):
        return
    harness.parallel([(inner_profiler, harness), (two_processes, harness)])
    step_times(harness)
