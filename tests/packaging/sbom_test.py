#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""sbom.py describes files and what they carry; check_sbom.py accepts that and finds each breach."""

import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SBOM = HERE.parents[1] / "cmake/packaging/sbom.py"
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import check_sbom  # noqa: E402

try:
    import debian.copyright  # noqa: F401
except ImportError:
    print("SKIPPED: needs python3-debian, which ./dev package installs")
    sys.exit(77)
CARRIED = ("libc6", "zlib1g")  # of every Debian and Ubuntu: one has several licenses, the other one license
ZLIB = subprocess.run(["dpkg-query", "--listfiles", "zlib1g"], check=True, stdout=subprocess.PIPE, text=True).stdout
ZLIB = next(pathlib.Path(line).name for line in ZLIB.splitlines() if "/libz.so.1" in line)


class Sbom(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder = self.scratch / "release"
        self.folder.mkdir()
        self.make_tree(CARRIED, [ZLIB])
        self.pack()

    def make_tree(self, licenses, libraries):
        """What an archive has: licenses of Debian packages, and libraries of them."""
        self.tree = self.scratch / "tree"
        shutil.rmtree(self.tree, ignore_errors=True)
        texts = self.tree / "share/doc/streamscope/licenses"
        texts.mkdir(parents=True)
        for package in licenses:
            shutil.copy(f"/usr/share/doc/{package}/copyright", texts / package)
        (self.tree / "lib/streamscope").mkdir(parents=True)
        for library in libraries:
            (self.tree / "lib/streamscope" / library).touch()

    def pack(self):
        """The tree as archive, wheel and Debian package, and a file that has nothing inside."""
        with tarfile.open(self.folder / "some.tar.xz", "w:xz") as archive:
            archive.add(self.tree, "some")
        with zipfile.ZipFile(self.folder / "some.whl", "w") as archive:
            archive.writestr("some-1.dist-info/licenses/LICENSE", "")
            archive.writestr("some-1.dist-info/licenses/zlib1g", "")
        package = self.scratch / "package"
        shutil.copytree(self.tree, package / "usr", dirs_exist_ok=True)
        (package / "DEBIAN").mkdir(exist_ok=True)
        (package / "DEBIAN/control").write_text("Package: some\nVersion: 1\nArchitecture: all\nMaintainer: A B <a@b.org>\nDescription: some\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", package, self.folder / "some.deb"], check=True, stdout=subprocess.DEVNULL)
        (self.folder / "plain.txt").write_text("text")

    def write(self):
        done = subprocess.run([SBOM, self.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              env={"SOURCE_DATE_EPOCH": "1700000000", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
        self.path = pathlib.Path(done.stdout.strip())
        return done

    def test_describes_every_file_and_what_it_carries(self):
        self.assertEqual(self.write().stderr, "")
        self.assertEqual(list(check_sbom.breaches(self.path, self.folder)), [])
        sbom = json.loads(self.path.read_text())
        packages = {package["name"]: package for package in sbom["packages"]}
        self.assertEqual(set(packages), {"some.tar.xz", "some.whl", "some.deb", "plain.txt", *CARRIED})
        self.assertEqual(packages["zlib1g"]["licenseDeclared"], "Zlib")
        shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", "zlib1g"], stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(packages["zlib1g"]["versionInfo"], shown.splitlines()[0])
        contains = {(relation["spdxElementId"], relation["relatedSpdxElement"]) for relation in sbom["relationships"]
                    if relation["relationshipType"] == "CONTAINS"}
        ids = {name: package["SPDXID"] for name, package in packages.items()}
        self.assertEqual(contains, {*((ids[file], ids[package]) for file in ("some.tar.xz", "some.deb") for package in CARRIED),
                                    (ids["some.whl"], ids["zlib1g"])})
        self.assertEqual(sbom["creationInfo"]["created"], "2023-11-14T22:13:20Z")

    def test_is_the_same_for_the_same_files(self):
        self.write()
        first = self.path.read_bytes()
        self.write()
        self.assertEqual(first, self.path.read_bytes())

    def test_refuses_a_library_without_its_license(self):
        self.make_tree(["libc6"], [ZLIB])
        self.pack()
        done = self.write()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{ZLIB} is carried without the license of zlib1g", done.stderr)

    def expect(self, words, change):
        sbom = json.loads(self.original)
        change(sbom, {package["name"]: package for package in sbom["packages"]})
        self.path.write_text(json.dumps(sbom))
        found = list(check_sbom.breaches(self.path, self.folder))
        self.assertTrue(any(words in breach for breach in found), found)

    def test_the_check_finds_breaches(self):
        self.write()
        self.original = self.path.read_text()
        self.expect("spdxVersion is 'SPDX-2.2'", lambda sbom, _: sbom.update(spdxVersion="SPDX-2.2"))
        self.expect("documentNamespace", lambda sbom, _: sbom.update(documentNamespace="here"))
        self.expect("no time in UTC", lambda sbom, _: sbom["creationInfo"].update(created="today"))
        self.expect("creators", lambda sbom, _: sbom["creationInfo"].update(creators=[]))
        self.expect("has no packages", lambda sbom, _: sbom["packages"].clear())
        self.expect("zlib1g: has no versionInfo", lambda _, packages: packages["zlib1g"].pop("versionInfo"))
        self.expect("no license expression: 'GPL 2'", lambda _, packages: packages["zlib1g"].update(licenseDeclared="GPL 2"))
        self.expect("the text of LicenseRef-x is missing", lambda _, packages: packages["zlib1g"].update(licenseDeclared="LicenseRef-x"))
        self.expect("no package URL", lambda _, packages: packages["zlib1g"]["externalRefs"][0].update(referenceLocator="zlib"))
        self.expect("is there twice", lambda sbom, packages: sbom["packages"].append(packages["zlib1g"]))
        self.expect("nothing describes or contains it", lambda sbom, _: sbom["relationships"].pop(0))
        self.expect("which is not there", lambda sbom, _: sbom["packages"].pop())
        self.expect("plain.txt: is in the folder but not described", lambda _, packages: packages["plain.txt"].pop("packageFileName"))
        self.expect("filesAnalyzed", lambda _, packages: packages["plain.txt"].update(filesAnalyzed=True))
        (self.folder / "plain.txt").write_text("changed")
        self.expect("plain.txt: has another SHA-256", lambda *_: None)
        (self.folder / "plain.txt").unlink()
        self.expect("plain.txt: is described but not in the folder", lambda *_: None)
        self.path.write_text("{")
        self.assertIn("is no JSON", next(check_sbom.breaches(self.path, self.folder)))


if __name__ == "__main__":
    unittest.main()
