# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Task queues and task graphs on the GPU: tasks per second, how even their work is, DAGs in short levels, compared with fixed
shares, one queue for all workers and a launch for each level; a thousand random runs; and the checks of
compute-sanitizer."""

import pathlib
import shutil


def figures(harness, name, *arguments, timeout=120):
    """What a program reports, or None after a failed check."""
    finished = harness.run([harness.app(f"task_queue_{name}"), *arguments], timeout)
    lines = finished.lines()
    if not harness.check(f"{name} runs to its end", finished.code == 0 and lines, finished.why()):
        return None
    told = {key: value for key, value in lines[-1].items()
            if isinstance(value, (int, float)) and not isinstance(value, bool) and key.islower() and value
            and any(key.startswith(word) for word in WORDS)}
    for key, value in told.items():
        harness.log(f"  {key} {value:.6g}")
    return lines[-1]


WORDS = ("workers", "flat", "tree", "one_queue", "submitted", "queens", "skewed", "batch", "short", "even", "uneven",
         "narrow", "runs", "tasks", "in_line", "in_graphs", "stolen", "received", "records")


def at_least(harness, name, value, unit, limit):
    harness.budget(name, value, unit, limit, value >= limit)


def at_most(harness, name, value, unit, limit):
    harness.budget(name, value, unit, limit, value <= limit)


def sanitizer(harness):
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not pathlib.Path(tool).exists():
        harness.skip("compute-sanitizer", "it is not on this machine")
        return
    for check in ("memcheck", "racecheck"):
        finished = harness.run([tool, "--tool", check, "--error-exitcode", "9", harness.app("task_queue_stress"),
                                "--runs", "20", "--patience", "150"], 170)
        said = finished.out + finished.err
        if "Device not supported" in said or "not supported" in said and finished.code not in (0, 9):
            harness.skip(check, "compute-sanitizer does not support this machine")
            continue
        harness.check(check, finished.code == 0, finished.why())
        harness.log(f"  {check}: {' | '.join(line for line in said.splitlines() if 'SUMMARY' in line)}")


def run(harness):
    rate = figures(harness, "rate")
    if rate:
        at_least(harness, "gpu_queue_tasks_per_s", rate["tree_tasks_per_s"], "tasks/s", 1e8)
    balance = figures(harness, "balance")
    if balance:
        for name in ("queens", "skewed"):
            at_most(harness, f"gpu_queue_imbalance_{name}", balance[f"{name}_imbalance"], "x", 1.05)
            at_least(harness, f"static_imbalance_{name}", balance[f"{name}_static_imbalance"], "x", 1.5)
        at_least(harness, "gpu_queue_batch_gain", balance["batch_static_ms"] / balance["batch_ms"], "x", 1.1)
    dag = figures(harness, "dag")
    if dag:
        for name in ("short", "even", "uneven", "narrow"):
            at_least(harness, f"gpu_task_graph_levels_gain_{name}", dag[f"{name}_gain"], "x", 2)
    figures(harness, "stress", timeout=150)
    sanitizer(harness)
