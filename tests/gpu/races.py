# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Planted races and lifetime mistakes: each is found once, at its place, and its fixed twin is silent."""

MEMORY = ("stream-race", "host-race", "use-before-alloc", "use-after-free")
CERTAIN, POSSIBLE = 0, 2


def findings(trace):
    """[(detector, title, confidence)] of the memory detectors."""
    marks = ",".join("?" * len(MEMORY))
    return trace.rows(
        "SELECT detector.value, title.value, confidence FROM finding"
        " JOIN string AS detector ON detector.id = detector_id JOIN string AS title ON title.id = title_id"
        f" WHERE detector.value IN ({marks})", *MEMORY)


def names(title, first, second):
    """True if a title names both ops. Without device times the direction of a copy between any addresses is not known."""
    if " DtoD" not in title:
        first, second = first.removesuffix(" DtoD"), second.removesuffix(" DtoD")
    other = title.replace(first, "", 1)
    return other != title and second in other


def one(harness, app, options, case, fixed):
    """The certain and the possible findings of one recording, or None."""
    name = f"{app}_{case['case']}{'_fixed' if fixed else ''}"
    command = [harness.app(app), case["case"]] + (["--fixed"] if fixed else [])
    recording = harness.recorded(name, command, options)
    if recording is None:
        return None
    trace = recording[1]
    found = findings(trace)
    trace.close()
    return [row for row in found if row[2] != POSSIBLE], [row for row in found if row[2] == POSSIBLE]


def pair(harness, app, options, case):
    racy, fixed = one(harness, app, options, case, False), one(harness, app, options, case, True)
    if racy is None or fixed is None:
        return None
    only_possible = case["unsure"] or case["possible"] and "accesses" not in options
    grade, among = (POSSIBLE, racy[1]) if only_possible else (CERTAIN, racy[0])
    wanted = [row for row in among if row[0] == case["detector"] and names(row[1], case["first"], case["second"])]
    harness.check(f"{case['case']}: found once at its place", len(wanted) == 1 and wanted[0][2] == grade,
                  f"{case['detector']} naming {case['first']} and {case['second']} among {among}")
    harness.check(f"{case['case']}: repaired is silent", not fixed[0], f"{fixed[0]}")
    if only_possible:
        harness.check(f"{case['case']}: nothing is possible once repaired", not fixed[1], f"{fixed[1]}")
    noise = [row for row in racy[0] if row not in wanted]
    return case["case"], case["detector"], len(wanted), len(noise), len(fixed[0]), len(racy[1]), len(fixed[1]), noise


def run_programs(harness, app, options):
    """Every program of a list (tests/apps/race_cases.h), racy and fixed. The number of programs."""
    cases = harness.run([harness.app(app), "--list"]).lines()
    rows = [row for row in harness.parallel([(pair, harness, app, options, case) for case in cases]) if row]
    harness.table(["program", "detector", "found", "extra", "repaired", "possible", "possible, repaired"],
                  [row[:7] for row in rows])
    noise = sum(row[3] for row in rows)
    harness.log(f"  {sum(row[2] == 1 for row in rows)} of {len(cases)} found once, {sum(row[4] == 0 for row in rows)}"
                f" repaired ones silent, {noise} extra findings, {sum(row[5] + row[6] for row in rows)} possible ones")
    for row in rows:
        for extra in row[7]:
            harness.log(f"  extra in {row[0]}: {extra[0]}: {extra[1]}")
    return len(cases)


def run(harness):
    programs = run_programs(harness, "races", ["--with", "args"])
    harness.check("enough programs", programs >= 40, f"{programs}")
