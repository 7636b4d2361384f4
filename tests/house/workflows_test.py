#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The workflows of GitHub have the structure that they need, and no more rights.   workflows_test.py SOURCE"""

import copy
import pathlib
import re
import sys
import unittest

try:
    import yaml
except ImportError:
    print("SKIPPED: needs python3-yaml, which ./dev test installs")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github/workflows"
# What jobs may do beyond reading the sources.
WRITES = {
    ("release", "publish"): {"contents", "id-token", "attestations"},
    ("release", "site"): {"pages", "id-token"},
}
# The version of each action, the same in all workflows.
ACTIONS = {
    "actions/checkout": "v4", "actions/upload-artifact": "v4", "actions/download-artifact": "v4", "actions/attest-build-provenance": "v2",
    "actions/upload-pages-artifact": "v3", "actions/deploy-pages": "v4",
}


def load(name):
    return yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text(encoding="utf-8"))


def expressions(value):
    """Every ${{ … }} below a value."""
    if isinstance(value, str):
        yield from re.findall(r"\$\{\{\s*(.*?)\s*\}\}", value)
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from expressions(each)


def columns_of(job):
    """The columns of the job's matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    return (set(matrix) - {"include"}).union(*(row for row in matrix.get("include", [])))


def breaches_of_job(name, key, job, jobs):
    where = f"{name}: {key}"
    if "runs-on" not in job or not job.get("steps"):
        yield f"{where}: has no runs-on or no steps"
    needs = job.get("needs", [])
    for needed in [needs] if isinstance(needs, str) else needs:
        if needed not in jobs:
            yield f"{where}: needs {needed}, which is not there"
    writes = {right for right, value in job.get("permissions", {}).items() if value != "read"}
    if writes != WRITES.get((name, key), set()):
        yield f"{where}: may write {sorted(writes)} instead of {sorted(WRITES.get((name, key), set()))}"
    for step in job.get("steps", []):
        if ("uses" in step) == ("run" in step):
            yield f"{where}: a step has neither or both of uses and run: {step}"
        action, _, version = step.get("uses", "").partition("@")
        if action and ACTIONS.get(action) != version:
            yield f"{where}: {step['uses']} is not the version that the others use, {ACTIONS.get(action)}"
        # What somebody else may write must not become part of a script.
        for expression in expressions(step.get("run", "")):
            if not re.fullmatch(r"matrix\.\w+", expression):
                yield f"{where}: a script contains ${{{{ {expression} }}}}; pass it by env"
    for column in re.findall(r"\bmatrix\.(\w+)", " ".join(expressions(job))):
        if column not in columns_of(job):
            yield f"{where}: its matrix has no {column}"


def breaches(name, workflow):
    if not workflow.get(True):  # YAML reads the key `on` as a truth value
        yield f"{name}: has no trigger"
    if workflow.get("permissions") != {"contents": "read"}:
        yield f"{name}: its permissions are {workflow.get('permissions')}; jobs that need more say so themselves"
    for key, job in workflow["jobs"].items():
        yield from breaches_of_job(name, key, job, workflow["jobs"])


class Workflows(unittest.TestCase):
    def test_are_in_order(self):
        names = sorted(path.stem for path in WORKFLOWS.glob("*.yml"))
        self.assertIn("release", names)
        self.assertEqual([breach for name in names for breach in breaches(name, load(name))], [])

    def test_breaches_are_found(self):
        def expect(words, change, name="release"):
            workflow = copy.deepcopy(load(name))
            change(workflow, workflow["jobs"])
            found = list(breaches(name, workflow))
            self.assertTrue(any(words in breach for breach in found), f"{words}: {found}")

        expect("has no trigger", lambda workflow, _: workflow.pop(True))
        expect("its permissions are None", lambda workflow, _: workflow.pop("permissions"))
        expect("its permissions are {'contents': 'write'}", lambda workflow, _: workflow["permissions"].update(contents="write"))
        expect("build: may write ['contents']", lambda _, jobs: jobs["build"].update(permissions={"contents": "write"}))
        expect("publish: may write []", lambda _, jobs: jobs["publish"].pop("permissions"))
        expect("needs tests, which is not there", lambda _, jobs: jobs["publish"].update(needs="tests"))
        expect("checkout@main is not the version", lambda _, jobs: jobs["build"]["steps"].append({"uses": "actions/checkout@main"}))
        expect("other/action@v1 is not", lambda _, jobs: jobs["build"]["steps"].append({"uses": "other/action@v1"}))
        expect("neither or both", lambda _, jobs: jobs["build"]["steps"].append({"name": "nothing"}))
        expect("its matrix has no imag", lambda _, jobs: jobs["build"].update(container="${{ matrix.imag }}"))
        expect("a script contains ${{ github.ref_name }}", lambda _, jobs: jobs["build"]["steps"].append({"run": "echo ${{ github.ref_name }}"}))
        expect("has no runs-on", lambda _, jobs: jobs["build"].pop("runs-on"))

    def test_a_release_is_made_by_a_tag_from_tested_builds(self):
        workflow = load("release")
        self.assertEqual(workflow[True], {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}})
        jobs = workflow["jobs"]
        self.assertEqual([row["image"] for row in jobs["build"]["strategy"]["matrix"]["include"]], ["debian:12", "ubuntu:24.04"])
        runs = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
        self.assertLess(runs.index(".ci/run"), runs.index('./dev release "${GITHUB_REF_NAME#v}"'))
        self.assertEqual((jobs["publish"]["needs"], jobs["site"]["needs"]), ("build", "publish"))
        order = [step.get("uses", step.get("run", "")) for step in jobs["publish"]["steps"]]
        places = [next(at for at, step in enumerate(order) if words in step)
                  for words in ("sha256sum --check", "attest-build-provenance", "gh release create", "upload-pages-artifact")]
        self.assertEqual(places, sorted(places))
        self.assertTrue(jobs["site"]["steps"][0]["uses"].startswith("actions/deploy-pages@"))


if __name__ == "__main__":
    unittest.main()
