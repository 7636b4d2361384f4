# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Which record a wait is bound to: against CUPTI's own word where calls do not overlap, against the GPU where they do."""

import bisect

import counts

EXACT, NEVER_RECORDED, CAPTURED, AMBIGUOUS, UNKNOWN = range(5)


def check_stress(harness):
    """Waits that overlap no other call: the bound record is the one CUPTI names, without exception. Recorded by wrappers,
    without CUPTI's event records, the number of each binding must be the program's."""
    name = "pairing_stress"
    if harness.source == "interposed":
        recording = harness.recorded(name, [harness.app(name)], timeout=120)
        if recording is not None:
            counts.check_counts(harness, name, *recording)
            recording[1].close()
        return
    recording = harness.recorded(name, [harness.app(name)], ["--tier", "events"], timeout=120)
    if recording is None:
        return
    lines, trace = recording
    counts.check_counts(harness, name, lines, trace, tier="events")
    witness = {
        (act, correlation): sync_id
        for act, correlation, sync_id in trace.rows("SELECT act, correlation_id, sync_id FROM sync_witness")
    }
    waits = trace.rows(
        "SELECT wait.id, wait.binding, wait.correlation_id, record.correlation_id FROM event_wait AS wait"
        " LEFT JOIN event_record AS record ON record.id = wait.record_id"
    )
    compared, differing, silent = 0, [], []
    for wait, binding, wait_correlation, record_correlation in waits:
        said = witness.get((1, wait_correlation))
        bound = 0 if binding == NEVER_RECORDED else witness.get((0, record_correlation))
        if said is None or (binding == EXACT and bound is None):
            silent.append(wait)
            continue
        compared += 1
        if binding not in (EXACT, NEVER_RECORDED) or said != bound:
            differing.append((wait, binding, said, bound))
    harness.check(f"{name}: at least 100,000 waits compared with CUPTI", compared >= 100_000, f"compared {compared} of {len(waits)}")
    harness.equal(f"{name}: waits for which CUPTI has no word", 0, len(silent), f"first {silent[:5]}")
    harness.equal(f"{name}: waits bound to another record than CUPTI's", 0, len(differing),
                  f"(wait, binding, CUPTI's id, id of the bound record): {differing[:5]}")
    harness.log(f"  {name}: {compared} waits compared, {len(differing)} differ, {len(silent)} without a witness")
    trace.close()


STAMP_NS = 2  # times in a trace are rounded to ns: closer than this, two stamps have no order


def possible_records(wait, records, ends, slack):
    """How many records the wait can mean by the intervals of the calls (h200.md, P1). `records` are (start, end),
    sorted by end. `slack` lengthens every interval (positive: more overlap) or shortens it (negative)."""
    start, end = wait
    first = bisect.bisect_left(ends, start - 2 * slack)  # from here on: ended after the wait began
    overlapping = sum(record[0] - 2 * slack < end for record in records[first:first + 16])
    before = records[max(0, first - 8):first]
    if not before:
        return overlapping
    newest_start = max(record[0] for record in before)  # whoever ended before that was certainly replaced
    return overlapping + sum(record[1] + 2 * slack > newest_start for record in before)


def check_race(harness, tier, trials):
    """Threads that race on one event: no exact binding is wrong, and the truth is always among the candidates."""
    name = f"pairing_race.{tier}"
    recording = harness.recorded(name, [harness.app("pairing_race"), "--trials", trials], ["--tier", tier], timeout=150)
    if recording is None:
        return
    lines, trace = recording
    if not harness.check(f"{name}: the program reported", bool(lines), "a JSON line"):
        return
    line = lines[-1]
    harness.equal(f"{name}: losses", [], trace.losses())
    rows = {}
    for letter, handle in line["streams"].items():
        table = "event_wait" if letter == "W" else "event_record"
        rows[letter] = trace.rows(
            f"SELECT row.id, row.start_ns, row.end_ns FROM {table} AS row JOIN stream ON stream.id = row.stream_id"
            f" WHERE stream.handle = ? ORDER BY row.start_ns", handle)
        if not harness.equal(f"{name}: calls on stream {letter}", trials, len(rows[letter])):
            return
    binding = {wait: (kind, record) for wait, kind, record in trace.rows("SELECT id, binding, record_id FROM event_wait")}
    named = {}
    for wait, record in trace.rows("SELECT event_wait_id, event_record_id FROM event_wait_candidate"):
        named.setdefault(wait, set()).add(record)
    records = sorted(((start, end) for letter in "ABC" for _, start, end in rows[letter]), key=lambda row: row[1])
    ends = [row[1] for row in records]

    exact, wrong, outside, guessed, timid, other = 0, [], [], [], [], []
    candidate_total = 0
    for trial, truth in enumerate(line["truth"]):
        wait, start, end = rows["W"][trial]
        true_record = rows[truth][trial][0]
        kind, record = binding[wait]
        at_least = possible_records((start, end), records, ends, -STAMP_NS)
        at_most = possible_records((start, end), records, ends, STAMP_NS)
        if kind == EXACT:
            exact += 1
            if record != true_record:
                wrong.append((trial, truth, record, true_record))
            if at_least > 1:
                guessed.append((trial, at_least))
        elif kind == AMBIGUOUS:
            candidate_total += len(named.get(wait, ()))
            if true_record not in named.get(wait, ()):
                outside.append((trial, truth, sorted(named.get(wait, ())), true_record))
            if at_most <= 1:
                timid.append(trial)
        else:
            other.append((trial, counts.BINDINGS[kind]))
    ambiguous = trials - exact - len(other)
    truths = {letter: line["truth"].count(letter) for letter in "ABC"}
    harness.equal(f"{name}: exact bindings that the GPU contradicts", 0, len(wrong), f"(trial, truth, bound, true) {wrong[:5]}")
    harness.equal(f"{name}: ambiguous waits whose record is no candidate", 0, len(outside), f"{outside[:3]}")
    harness.equal(f"{name}: waits that overlap a record but are called exact", 0, len(guessed), f"(trial, possible) {guessed[:5]}")
    harness.equal(f"{name}: waits called ambiguous without an overlap", 0, len(timid), f"{timid[:5]}")
    harness.equal(f"{name}: waits bound otherwise", 0, len(other), f"{other[:5]}")
    harness.check(f"{name}: both kinds occurred", exact > 0 and ambiguous > 0, f"{exact} exact, {ambiguous} ambiguous")
    harness.log(f"  {name}: {trials} trials, truth {truths}, {exact} exact, {ambiguous} ambiguous with"
                f" {candidate_total / max(1, ambiguous):.2f} candidates each, {len(wrong)} wrong")
    trace.close()


def run(harness):
    check_stress(harness)
    check_race(harness, "structure", 10_000)
    check_race(harness, "times" if harness.source == "interposed" else "events", 2_000)
