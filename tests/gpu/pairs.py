# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Programs of other projects before and after the commit that repaired them: does the report of the first say what the commit says? The
archive (--corpus) has a folder for each pair and pairs.json: a list of {name, repository, commit, build, before, after, before_mark,
after_mark, expected_bound, expected_rule, expected_line, just_this, held_out, others}. The commands run in the pair's folder (diagnosis.py says
what they print); `others` has those of variants without something else, by the bound that this is."""

import concurrent.futures
import json
import shlex
import tarfile

import diagnosis

BUILD_S = 120


def words(command):
    return ["bash", "-c", command if "=" in command.split()[0] else f"exec {command}"]


def built(harness, folder, pair):
    if not pair["build"]:
        return True
    result = harness.run(["bash", "-c", pair["build"]], BUILD_S, cwd=folder)
    return harness.check(f"{pair['name']} builds: {shlex.quote(pair['build'])}", result.code == 0, result.why())


def run(harness):
    if not harness.options.corpus:
        return harness.skip("pairs", "no archive of pairs (--corpus)")
    root = harness.work / "pairs"
    root.mkdir()
    with tarfile.open(harness.options.corpus) as archive:
        archive.extractall(root, filter="data")
    listed = next(root.rglob("pairs.json"))
    pairs = [pair for pair in json.loads(listed.read_text()) if harness.options.programs.search(pair["name"])]
    with concurrent.futures.ThreadPoolExecutor(harness.options.jobs) as pool:
        ready = list(pool.map(lambda pair: built(harness, listed.parent / pair["name"], pair), pairs))
    diagnosis.run_all(
        harness, "`tests/gpu/run pairs`, ms per iteration.",
        [diagnosis.Program(pair["name"], *(words(pair[which]) for which in ("before", "after", "before_mark", "after_mark")), pair["expected_bound"],
                           pair["expected_rule"], pair.get("expected_line", ""), listed.parent / pair["name"],
                           pair.get("just_this", False), pair.get("held_out", False),
                           {bound: words(command) for bound, command in pair.get("others", {}).items()})
         for pair, is_ready in zip(pairs, ready) if is_ready])
