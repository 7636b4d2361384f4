# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Ways to be recorded without the launcher, and programs that must not notice."""

import counts


def run_apart(harness, name, command, env=None, timeout=60):
    """Runs a program in its own empty folder. Returns what it did and the folder."""
    folder = harness.work / f"{name}.folder"
    folder.mkdir()
    return harness.run(command, timeout, env, folder), folder


def check_way(harness, name, app, variables):
    finished, folder = run_apart(harness, name, [harness.app(app)], variables)
    if not harness.check(f"{name}: runs", finished.code == 0, finished.why()):
        return
    trace = harness.finished_trace(folder, name)
    if trace is None:
        return
    counts.check_counts(harness, name, finished.lines(), trace)
    trace.close()
    left = sorted(path.name for path in folder.iterdir() if path != trace.path)
    harness.equal(f"{name}: files left beside the trace", [], left)


def check_untouched(harness, way, variables):
    """A program without CUDA: same output, no file."""
    name = f"no_cuda by {way}"
    bare = harness.run([harness.app("no_cuda")])
    finished, folder = run_apart(harness, name, [harness.app("no_cuda")], variables)
    harness.equal(f"{name}: exit code", bare.code, finished.code, finished.err)
    harness.equal(f"{name}: output", bare.out, finished.out)
    harness.equal(f"{name}: messages", "", finished.err)
    harness.equal(f"{name}: files left", [], sorted(path.name for path in folder.iterdir()))


def check_same_behavior(harness, app, arguments=()):
    """A program with unusual behavior: the same report with and without the library."""
    name = f"{app} by LD_PRELOAD"
    bare, _ = run_apart(harness, f"{app} bare", [harness.app(app), *arguments])
    if not harness.check(f"{app} bare: runs", bare.code == 0, bare.why()):
        return
    finished, folder = run_apart(harness, name, [harness.app(app), *arguments], {"LD_PRELOAD": str(harness.collector)})
    if not harness.check(f"{name}: runs", finished.code == 0, finished.why()):
        return
    harness.equal(f"{name}: output", bare.out, finished.out)
    own = {str(argument) for argument in arguments}
    trace = harness.finished_trace(folder, name, not_these=own)
    if trace is None:
        return
    counts.check_counts(harness, name, finished.lines(), trace)
    trace.close()
    left = sorted(path.name for path in folder.iterdir() if path != trace.path and path.name not in own)
    harness.equal(f"{name}: files left beside the trace", [], left)


def run(harness):
    preload = {"LD_PRELOAD": str(harness.collector)}
    injection = {"CUDA_INJECTION64_PATH": str(harness.collector)}
    tasks = []
    for app in ("forkjoin", "pipeline_shared", "driver_api", "graph_replay"):
        tasks.append((check_way, harness, f"{app} by LD_PRELOAD", app, preload))
        tasks.append((check_way, harness, f"{app} by CUDA_INJECTION64_PATH", app, injection))
    for app in ("linked", "linked_shared"):
        tasks.append((check_way, harness, f"{app} by itself", app, {}))
    tasks.append((check_untouched, harness, "LD_PRELOAD", preload))
    tasks.append((check_untouched, harness, "CUDA_INJECTION64_PATH", injection))
    tasks += [(check_same_behavior, harness, "late_dlopen"), (check_same_behavior, harness, "forker"),
              (check_same_behavior, harness, "own_sqlite", ("own.db",))]
    harness.parallel(tasks)
