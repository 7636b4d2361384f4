# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests of the checks themselves, without a GPU: each must pass on a good trace and fail on a spoiled one."""

import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import corpus_sources  # noqa: E402
import cost  # noqa: E402
import counts  # noqa: E402
import diagnosis  # noqa: E402
import figures  # noqa: E402
import graphs  # noqa: E402
import join  # noqa: E402
import kineto  # noqa: E402
import pairing  # noqa: E402
import sources  # noqa: E402
from harness import Harness, Trace, new_trace  # noqa: E402


class QuietHarness(Harness):
    """Answers `info` from the trace itself, as streamscope does, and keeps silent."""

    def __init__(self, folder):
        super().__init__(folder / "build", folder / "out", folder, 1, 0)

    def announce(self, text):
        pass

    def info(self, path, name):
        trace = Trace(path)
        tables = ("process", "event_record", "event_wait", "range", "mark")
        answer = {table: trace.value(f"SELECT count(*) FROM {table}") for table in tables}
        for number, kind in enumerate(counts.OP_KINDS):
            answer[kind] = trace.value("SELECT count(*) FROM op WHERE kind = ?", number)
        for name, kinds in (("host_sync", "0, 1, 2, 5"), ("query", "3, 4")):
            answer[name] = trace.value(f"SELECT count(*) FROM host_sync WHERE kind IN ({kinds})")
        answer["event_edge"] = trace.value("SELECT count(*) FROM event_wait WHERE binding = 0")
        trace.close()
        return {"complete": True, "counts": answer}

    def failures(self):
        return [name for _, name, verdict, _ in self.results if verdict == "FAIL"]


def insert(database, table, **columns):
    """A row; its id is the number of rows before it."""
    row = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    names = ["id", *columns]
    database.execute(f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
                     [row, *columns.values()])
    return row


def text(database, value):
    row = database.execute("SELECT id FROM string WHERE value = ?", [value]).fetchone()
    return row[0] if row else insert(database, "string", value=value)


def handover(database, rounds):
    """One thread, two streams: `rounds` times a kernel in the first, a record, a wait and a kernel in the second."""
    process = insert(database, "process", os_pid=1)
    thread = insert(database, "thread", process_id=process)
    device = insert(database, "device", ordinal=0)
    context = insert(database, "context", process_id=process, device_id=device)
    streams = [insert(database, "stream", context_id=context, handle=7 + i, kind=3) for i in range(2)]
    event = insert(database, "event", process_id=process, handle=9)
    now = correlation = 0

    def launch(stream):
        nonlocal now, correlation
        now, correlation = now + 1000, correlation + 1
        call = insert(database, "api_call", thread_id=thread, kind=1, name_id=text(database, "cudaLaunchKernel"),
                      stream_id=streams[stream], start_ns=now, end_ns=now + 100, result=0, call_number=correlation, correlation_id=correlation)
        return insert(database, "op", kind=0, stream_id=streams[stream], start_ns=now + 200, end_ns=now + 700,
                      call_number=correlation, correlation_id=correlation, api_call_id=call)

    for version in range(1, rounds + 1):
        first = launch(0)
        now += 1000
        record = insert(database, "event_record", thread_id=thread, name_id=text(database, "cudaEventRecord"),
                        stream_id=streams[0], event_id=event, version=version, start_ns=now, end_ns=now + 50, result=0)
        wait = insert(database, "event_wait", thread_id=thread, name_id=text(database, "cudaStreamWaitEvent_ptsz"),
                      stream_id=streams[1], event_id=event, binding=0, record_id=record, start_ns=now + 100,
                      end_ns=now + 150, result=0)
        insert(database, "edge", kind=1, from_op_id=first, to_op_id=launch(1), event_record_id=record, event_wait_id=wait)
    insert(database, "host_sync", thread_id=thread, kind=0, name_id=text(database, "cudaDeviceSynchronize"),
           start_ns=now + 1000, end_ns=now + 1100, result=0)
    return {"app": "handover", "launches": 2 * rounds, "records": rounds, "waits": rounds, "syncs": 1,
            "calls": {"cudaLaunchKernel": 2 * rounds, "cudaEventRecord": rounds, "cudaStreamWaitEvent": rounds,
                      "cudaDeviceSynchronize": 1, "cudaGetDeviceCount": 1}}


class Checks(unittest.TestCase):
    def failures_after(self, spoil=None, tier="times"):
        """The checks that fail on the hand-over after `spoil`, some SQL, was applied to its trace."""
        with tempfile.TemporaryDirectory() as folder:
            harness = QuietHarness(pathlib.Path(folder))
            path = pathlib.Path(folder) / "trace.sqlite"
            database = new_trace(path)
            line = handover(database, 5)
            if spoil:
                database.execute(spoil)
            database.commit()
            database.close()
            trace = Trace(path)
            counts.check_counts(harness, "t", [line], trace, tier=tier)
            trace.close()
            harness.close()
            return [name.removeprefix("t: ") for name in harness.failures()]

    def test_a_faithful_trace_passes(self):
        self.assertEqual(self.failures_after(), [])

    def test_every_kind_of_flaw_is_found(self):
        flaws = {
            "DELETE FROM op WHERE id = 3": "info counts",
            "DELETE FROM event_wait WHERE id = 0": "calls by name",
            "UPDATE event_wait SET binding = 3, record_id = NULL WHERE id = 1": "bindings of waits",
            "UPDATE event_record SET flags = 1 WHERE id = 2": "records marked as captured",
            "UPDATE api_call SET result = 1 WHERE id = 0": "calls that failed",
            "UPDATE op SET end_ns = NULL WHERE id = 1": "kernels, copies and memsets without times",
            "UPDATE op SET start_ns = start_ns - 9000 WHERE id = 4": "ops that start before their call",
            "UPDATE op SET end_ns = start_ns - 1 WHERE id = 4": "ops that end before they start",
            "UPDATE op SET api_call_id = NULL WHERE id = 4": "ops without their call",
            "UPDATE op SET stream_id = NULL WHERE id = 4": "ops without a stream",
            "UPDATE op SET end_ns = end_ns + 9000 WHERE id = 2": "the GPU kept every edge",
            "INSERT INTO op(id, kind, stream_id) VALUES (99, 4, 0)": "ops of kind memory_wait",
            "INSERT INTO loss(id, name_id, severity, count) VALUES (0, 0, 2, 5)": "losses",
        }
        for spoil, check in flaws.items():
            with self.subTest(spoil):
                self.assertIn(check, self.failures_after(spoil))
        self.assertIn("ops with times in tier structure", self.failures_after(tier="structure"))

    def test_names_lose_their_suffixes(self):
        self.assertEqual(counts.plain("cudaEventRecordWithFlags_ptsz"), "cudaEventRecordWithFlags")
        self.assertEqual(counts.plain("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync")
        self.assertEqual(counts.plain("cudaGraphLaunch"), "cudaGraphLaunch")
        self.assertTrue(counts.traced_calls()["cudaLaunchKernel"])
        self.assertFalse(counts.traced_calls()["cudaMalloc"])


class Kept(unittest.TestCase):
    """Traces for the repository."""

    def test_names_of_this_machine_do_not_stay(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            harness = QuietHarness(folder)
            path = folder / "trace.sqlite"
            database = new_trace(path)
            texts = {f"{harness.build}/bin/examples/pipeline --device cuda": "/opt/streamscope/bin/examples/pipeline --device cuda",
                     f"STREAMSCOPE_RINGS={folder}/a.rings\0CUDA_HOME=/usr/local/cuda":
                         "STREAMSCOPE_RINGS=/tmp/streamscope/a.rings\0CUDA_HOME=/usr/local/cuda",
                     "/home/somebody/code/libcoord/examples/pipeline.cpp:67 int run()":
                         "/src/streamscope/libcoord/examples/pipeline.cpp:67 int run()",
                     "/usr/local/cuda/lib/libcupti.so.13": "/usr/local/cuda/lib/libcupti.so.13", "gemm": "gemm"}
            for value in texts:
                text(database, value)
            insert(database, "process", os_pid=1, host_id=text(database, "a machine of mine"))
            database.commit()
            database.close()
            self.assertTrue(harness.keep(path))
            kept = harness.kept / "trace.sqlite"
            trace = Trace(kept)
            self.assertEqual([row[0] for row in trace.rows("SELECT value FROM string ORDER BY id")], [*texts.values(), "host"])
            trace.close()
            self.assertNotIn(b"somebody", kept.read_bytes())
            self.assertNotIn(b"of mine", kept.read_bytes())
            with open(path, "ab") as file:
                file.write(bytes(3_000_000))
            self.assertFalse(harness.keep(path, "large"))
            harness.close()


class Topology(unittest.TestCase):
    diamond = ([0, 0, 0, 0], [(0, 1), (0, 2), (1, 3), (2, 3)])

    def test_numbering_does_not_matter(self):
        self.assertTrue(graphs.isomorphic(self.diamond, ([0, 0, 0, 0], [(3, 2), (3, 0), (2, 1), (0, 1)])))

    def test_edges_and_kinds_do(self):
        self.assertFalse(graphs.isomorphic(self.diamond, ([0, 0, 0, 0], [(0, 1), (0, 2), (1, 3), (1, 2)])))
        self.assertFalse(graphs.isomorphic(self.diamond, ([0, 2, 0, 0], self.diamond[1])))
        self.assertFalse(graphs.isomorphic(self.diamond, ([0, 0, 0, 0], self.diamond[1][:3])))

    def test_equal_colors_are_not_enough(self):
        two_triangles = ([0] * 6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
        hexagon = ([0] * 6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)])
        self.assertFalse(graphs.isomorphic(two_triangles, hexagon))


class Intervals(unittest.TestCase):
    def possible(self, wait, records, slack=0):
        records = sorted(records, key=lambda row: row[1])
        return pairing.possible_records(wait, records, [row[1] for row in records], slack)

    def test_the_newest_of_separate_records_is_the_only_one(self):
        self.assertEqual(self.possible((100, 110), [(0, 10), (20, 30), (40, 50)]), 1)

    def test_records_that_overlap_each_other_or_the_wait_are_all_possible(self):
        self.assertEqual(self.possible((100, 110), [(0, 10), (20, 50), (40, 60)]), 2)
        self.assertEqual(self.possible((100, 110), [(0, 10), (105, 120)]), 2)
        self.assertEqual(self.possible((100, 110), [(0, 10), (111, 120)]), 1)

    def test_one_hidden_inside_a_long_one_rules_out_the_older(self):
        self.assertEqual(self.possible((100, 110), [(0, 10), (5, 90), (20, 30)]), 2)

    def test_slack_decides_about_touching_stamps(self):
        self.assertEqual(self.possible((100, 110), [(0, 10), (20, 101)], -2), 1)
        self.assertEqual(self.possible((100, 110), [(0, 10), (20, 99)], 2), 2)


def race(database):
    """Two trials on one event. In the first the calls do not overlap and the wait takes B's record; in the second the
    wait overlaps A's record, and the GPU shows that it took A's."""
    process = insert(database, "process", os_pid=1)
    thread = insert(database, "thread", process_id=process)
    context = insert(database, "context", process_id=process)
    streams = {letter: insert(database, "stream", context_id=context, handle=100 + i, kind=3)
               for i, letter in enumerate("ABCW")}
    event = insert(database, "event", process_id=process, handle=9)

    def record(letter, start, end):
        return insert(database, "event_record", thread_id=thread, stream_id=streams[letter], event_id=event,
                      start_ns=start, end_ns=end, result=0)

    def wait(start, end, **bound):
        return insert(database, "event_wait", thread_id=thread, stream_id=streams["W"], event_id=event,
                      start_ns=start, end_ns=end, result=0, **bound)

    record("C", 100, 110), record("A", 200, 210)
    wait(400, 410, binding=0, record_id=record("B", 300, 310))
    record("C", 1100, 1110)
    candidates = [record("B", 1200, 1210), record("A", 1300, 1320)]
    unsure = wait(1305, 1330, binding=3)
    for candidate in candidates:
        insert(database, "event_wait_candidate", event_wait_id=unsure, event_record_id=candidate)
    return {"app": "pairing_race", "truth": "BA", "streams": {letter: 100 + i for i, letter in enumerate("ABCW")}}


class Race(unittest.TestCase):
    def failures_after(self, spoil=None):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.sqlite"
            database = new_trace(path)
            line = race(database)
            if spoil:
                database.execute(spoil)
            database.commit()
            database.close()
            harness = QuietHarness(pathlib.Path(folder))
            harness.recorded = lambda *_, **__: ([line], Trace(path))
            pairing.check_race(harness, "times", 2)
            harness.close()
            return [name.removeprefix("pairing_race.times: ") for name in harness.failures()]

    def test_right_bindings_pass(self):
        self.assertEqual(self.failures_after(), [])

    def test_every_kind_of_wrong_binding_is_found(self):
        flaws = {
            "UPDATE event_wait SET record_id = 1 WHERE id = 0": "exact bindings that the GPU contradicts",
            "DELETE FROM event_wait_candidate WHERE id = 1": "ambiguous waits whose record is no candidate",
            "UPDATE event_wait SET binding = 0, record_id = 5 WHERE id = 1":
                "waits that overlap a record but are called exact",
            "UPDATE event_wait SET binding = 3 WHERE id = 0": "waits called ambiguous without an overlap",
            "UPDATE event_wait SET binding = 4 WHERE id = 0": "waits bound otherwise",
            "DELETE FROM event_record WHERE id = 0": "calls on stream C",
        }
        for spoil, check in flaws.items():
            with self.subTest(spoil):
                self.assertIn(check, self.failures_after(spoil))


class Kineto(unittest.TestCase):
    def test_only_the_measured_part_counts(self):
        def call(name, ts, correlation, cat="cuda_runtime"):
            return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": 1, "args": {"correlation": correlation}}

        def wait_of(record):
            return {"ph": "X", "cat": "cuda_sync", "name": "Stream Wait Event", "ts": 131, "dur": 1,
                    "args": {"correlation": 6, "context": 1, "wait_on_cuda_event_id": 3, "wait_on_cuda_event_record_corr_id": record}}

        def record(correlation, event):
            return {"ph": "X", "cat": "cuda_event", "name": "cudaEvent", "ts": 0, "dur": 1,
                    "args": {"correlation": correlation, "context": 1, "event_id": event}}

        events = [call("cudaLaunchKernel", 90, 1), call("cudaDeviceSynchronize", 100, 2), call("cudaLaunchKernel", 110, 3),
                  call("cuLaunchKernel", 111, 3, "cuda_driver"), call("cuLaunchKernel", 112, 4, "cuda_driver"),
                  call("cudaEventRecordWithFlags", 120, 5), call("cudaStreamWaitEvent", 130, 6),
                  call("cudaEventRecord", 140, 9),
                  {"ph": "X", "cat": "kernel", "name": "k", "ts": 115, "dur": 3, "args": {}},
                  call("cudaDeviceSynchronize", 190, 7), call("cudaDeviceSynchronize", 195, 8)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kineto.json"

            def window_of(*more):
                path.write_text(json.dumps({"traceEvents": [*events, *more]}))
                return kineto.KinetoWindow(path)

            window = window_of(wait_of(5))
            self.assertEqual(dict(window.by_name), {"cudaLaunchKernel": 1, "cuLaunchKernel": 1, "cudaEventRecordWithFlags": 1,
                                                    "cudaStreamWaitEvent": 1, "cudaEventRecord": 1, "cudaDeviceSynchronize": 1})
            self.assertEqual(dict(window.ops), {"kernel": 1})
            self.assertEqual(window.edges, {0: 0})
            self.assertEqual(window_of(wait_of(-1)).edges, {})
            # The last record of the event before the wait, whatever Kineto names and in whatever order it lists.
            self.assertEqual(window_of(wait_of(9), record(9, 3), record(5, 3)).edges, {0: 0})
            self.assertEqual(window_of(wait_of(-1), record(5, 4)).edges, {})

    def test_steps_are_compared_one_by_one(self):
        """A program of two steps in two traces: as ours and as an import without the range; then one of them spoiled."""
        def steps(folder, name, with_range, spoil=""):
            path = pathlib.Path(folder) / name
            database = new_trace(path)
            if with_range:
                insert(database, "range", name_id=text(database, "measured"), start_ns=100, end_ns=5_000)
            insert(database, "host_sync", kind=0, start_ns=50, end_ns=90)
            at = 200
            for step in range(2):
                for kind in (0, 1):
                    call = insert(database, "api_call", start_ns=at, end_ns=at + 5)
                    insert(database, "op", kind=kind, api_call_id=call, start_ns=at + 7, end_ns=at + 9)
                    at += 10
                for record in range(kineto.RECORDS_OF_STEP):
                    number = insert(database, "event_record", start_ns=at, end_ns=at + 5)
                    insert(database, "event_wait", start_ns=at - 3, end_ns=at - 1, record_id=number - 1 if number else None)
                    at += 10
            insert(database, "host_sync", kind=0, start_ns=4_000, end_ns=4_900)
            if spoil:
                database.execute(spoil)
            database.commit()
            database.close()
            return Trace(path)

        for spoil, expected in (("", 0), ("DELETE FROM op WHERE id = 2", 1),
                                ("UPDATE event_wait SET record_id = 0 WHERE id = 3", 1),
                                ("UPDATE op SET api_call_id = NULL WHERE id = 1", 2)):
            with tempfile.TemporaryDirectory() as folder:
                harness = QuietHarness(pathlib.Path(folder))
                ours, theirs = steps(folder, "ours", True), steps(folder, "theirs", False, spoil)
                kineto.compare_steps(harness, ours, theirs, 2)
                self.assertEqual(len(harness.failures()), expected, (spoil, harness.results))
                ours.close(), theirs.close(), harness.close()


def many_threads(database):
    """Two threads that take turns to launch on one stream, marked by shape and by duration."""
    context = insert(database, "context", process_id=insert(database, "process", os_pid=1))
    stream = insert(database, "stream", context_id=context, handle=7, kind=3)
    threads = [insert(database, "thread", process_id=0, os_tid=50 + number) for number in range(2)]
    for launch in range(20):
        thread, number = launch % 2, launch // 2
        call = insert(database, "api_call", thread_id=threads[thread], kind=1, stream_id=stream, start_ns=1_000 * launch, end_ns=1_000 * launch + 500)
        shape = insert(database, "launch_shape", grid_x=1, grid_y=1 + number % 31, grid_z=1 + thread)
        start = 100_000 * (launch + 1)
        insert(database, "op", kind=0, stream_id=stream, start_ns=start, end_ns=start + 10_000 * (1 + thread), api_call_id=call, launch_shape_id=shape)
    return {"threads": [50, 51], "shapes": 31, "unit_ns": 10_000}


class Join(unittest.TestCase):
    def failures_after(self, spoil="", mark="shape"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.sqlite"
            database = new_trace(path)
            line = many_threads(database)
            database.executescript(spoil)
            database.commit()
            database.close()
            harness, trace = QuietHarness(pathlib.Path(folder)), Trace(path)
            join.check_trace(harness, "t", mark, 20, line, trace)
            trace.close(), harness.close()
            return [name.removeprefix("t: ") for name in harness.failures()]

    def test_a_right_join_passes(self):
        for mark in ("shape", "duration", "none"):
            self.assertEqual(self.failures_after(mark=mark), [])

    def test_every_kind_of_wrong_join_is_found(self):
        swap = "UPDATE op SET api_call_id = CASE api_call_id WHEN {0} THEN {1} ELSE {0} END WHERE api_call_id IN ({0}, {1})"
        wrong = "kernels of another thread or launch than their call's"
        flaws = {
            ("UPDATE op SET api_call_id = NULL WHERE id = 3", "none"): "kernels without a call",
            ("UPDATE op SET api_call_id = 4 WHERE id = 3", "none"): "kernels that share a call",
            ("DELETE FROM op WHERE id = 3", "none"): "calls without a kernel",
            (swap.format(2, 4), "none"): "inversions within a thread and stream",
            (swap.format(2, 3), "none"): "inversions of calls that did not overlap",
            (swap.format(2, 3), "shape"): wrong,
            (swap.format(2, 4), "shape"): wrong,  # of one thread
            (swap.format(2, 3), "duration"): wrong,
            ("UPDATE op SET launch_shape_id = NULL WHERE id = 3", "shape"): "kernels without a grid",
            ("UPDATE op SET end_ns = NULL WHERE id = 3", "shape"): "kernels without times",
        }
        for (spoil, mark), check in flaws.items():
            with self.subTest(spoil, mark=mark):
                self.assertIn(check, self.failures_after(spoil, mark))


class Sources(unittest.TestCase):
    def compared(self, *facts):
        """Failed checks and verdicts of a comparison whose recordings have these facts: by callbacks, by wrappers, by callbacks ..."""
        with tempfile.TemporaryDirectory() as folder:
            harness, made = QuietHarness(pathlib.Path(folder)), list(facts)
            with unittest.mock.patch.object(sources, "record", lambda *_: made.pop(0)):
                rows = sources.compare(harness, "p", [])
            harness.close()
            return harness.failures(), [row[-1] for row in rows]

    def test_equal_facts_pass(self):
        self.assertEqual(self.compared({"ops": {0: 2}}, {"ops": {0: 2}}), ([], []))

    def test_a_difference_fails_unless_it_varies_by_itself(self):
        two, three = {"ops": {0: 2}}, {"ops": {0: 3}}
        self.assertEqual(self.compared(two, three, two, two), (["p, structure: ops"], ["WRONG"]))
        self.assertEqual(self.compared(two, three, two, three), ([], ["varies"]))

    def test_names_may_differ(self):
        self.assertEqual(self.compared({"calls": {"cudaMemcpy": 1}}, {"calls": {"cuMemcpy": 1}}), ([], []))
        more_names = {"node names": {"k": 2, "l": 1}}
        self.assertEqual(self.compared({"node names": {"k": 1}}, more_names), ([], ["expected", "expected"]))

    def test_queries_fit_the_schema(self):
        database = new_trace(":memory:")
        for sql in (*sources.FACTS.values(), *sources.FACTS_OF_TIMES.values(), sources.WITHOUT_CALL, *corpus_sources.FACTS.values()):
            database.execute(sql).fetchall()
        self.assertGreater(len(sources.torch_cases()), 10)


class Figures(unittest.TestCase):
    def test_an_interval_leaves_out_what_95_percent_allow(self):
        self.assertEqual(figures.interval(range(1, 10)), (2, 5, 8))  # 96.1 %
        self.assertEqual(figures.interval(range(6)), (0, 2.5, 5))
        self.assertEqual(figures.interval([1, 2, 3])[1:], (2, float("inf")))

    def test_a_verdict_needs_the_whole_interval(self):
        self.assertEqual([figures.verdict(*values, 2) for values in ((0, 1, 1.9), (2.1, 3, 4), (1, 1.5, 2.5))], ["ok", "miss", "not resolved"])


class Cost(unittest.TestCase):
    def test_a_host_is_as_quiet_as_its_median_loop(self):
        with tempfile.TemporaryDirectory() as folder:
            harness = QuietHarness(pathlib.Path(folder))
            loop = harness.app("cost_loop")
            loop.parent.mkdir(parents=True)

            def loop_that(script):
                loop.write_text(f"#!/bin/sh\n{script}\n")
                loop.chmod(0o700)

            # 1900, 1901, ... of which the third is the median.
            loop_that("""n=$(cat turn 2>/dev/null || echo 1900); echo $((n + 1)) >turn; echo "{\\"ns_per_call\\": $n}" """)
            self.assertEqual(cost.bare_ns(harness), 1902)
            loop_that("echo no GPU; exit 77")
            self.assertRaisesRegex(RuntimeError, "code 77.*no GPU", cost.bare_ns, harness)
            harness.close()


class Answers(unittest.TestCase):
    def test_recordings_that_say_different_things_come_with_the_result(self):
        with tempfile.TemporaryDirectory() as folder:
            harness = QuietHarness(pathlib.Path(folder))
            harness.rounds = 2

            def recorded(harness, program, name, _):
                harness.trace_path(name).write_text(name)
                bound = "kernels" if program.name == "alike" or name.endswith("0") else "copies"
                return diagnosis.Answer({"bound": bound}, [], False)
            with unittest.mock.patch.object(diagnosis, "recorded", recorded):
                for name in ("alike", "not_alike"):
                    self.assertEqual(len(diagnosis.all_answers(harness, diagnosis.Program(name, [], [], [], [], "", "", ""))), 2)
            self.assertEqual(sorted(path.name for path in (harness.kept / "differ").iterdir()), ["not_alike_0.sqlite", "not_alike_1.sqlite"])
            harness.close()


class Turns(unittest.TestCase):
    def test_programs_import_side_by_side_and_run_one_after_the_other(self):
        script = """if True:
            import json, subprocess, sys, time, torch
            start = time.time()
            time.sleep(0.5)
            subprocess.run([sys.executable, "-c", ""], timeout=20, check=True)  # does not wait
            print(json.dumps({"imported": torch.imported, "start": start, "end": time.time()}))"""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(diagnosis, "TURNS", f"{folder}:{diagnosis.TURNS}"):
            folder = pathlib.Path(folder)
            (folder / "torch.py").write_text("import time\ntime.sleep(0.1)\nimported = time.time()\n")
            harness = QuietHarness(folder)
            harness.jobs = 3
            program = diagnosis.Program("any", [], [], [], [], "", "", "")
            python = [sys.executable, "-c", script]
            other = ["sh", "-c", 'start=$(date +%s.%N); sleep 0.5; echo "{\\"imported\\": 0, \\"start\\": $start, \\"end\\": $(date +%s.%N)}"']
            runs = harness.parallel([(diagnosis.run_in_turn, harness, program, command, 30) for command in (python, other, python)])
            runs = [run.lines()[0] for run in runs]
            harness.close()
        runs.sort(key=lambda run: run["start"])
        for earlier, later in zip(runs, runs[1:]):
            self.assertLessEqual(earlier["end"], later["start"])
        self.assertLess(runs[-1]["imported"], runs[-2]["end"])


if __name__ == "__main__":
    unittest.main()
