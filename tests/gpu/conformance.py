# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""libcoord's conformance suite on the cuda backend, one check per test."""

import json


def run(harness):
    program, answer = harness.build / "bin" / "conformance_test", harness.work / "conformance.json"
    finished = harness.run([program, "--gtest_filter=*/cuda*", f"--gtest_output=json:{answer}"], 180)
    if not harness.check("the suite runs to its end", answer.exists(), finished.why()):
        return
    for suite in json.loads(answer.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            name = f"{suite['name'].removeprefix('Backends/')}.{test['name'].removesuffix('/cuda')}"
            if test["result"] == "SKIPPED":
                harness.skip(name, test.get("skipped", [{}])[0].get("message", ""))
            else:
                harness.check(name, not test.get("failures"),
                              " ".join(each["failure"] for each in test.get("failures", [])))
