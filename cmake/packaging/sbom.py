#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Writes a software bill of materials (SPDX 2.3, JSON) of what a release consists of.

  cmake/packaging/sbom.py FOLDER

Describes every file of FOLDER, and the libraries that these carry: their license folders have a file for each Debian package that a
carried library or compiled-in header is from. Versions and licenses are those of Debian's package database on this machine, so it must
run where the files were made. Only what the viewer's pages are made of is described by the files themselves, as these may come from
another machine. Needs python3-debian. Prints the path of the file that it writes into FOLDER. SOURCE_DATE_EPOCH sets its time.
"""

import dataclasses
import datetime
import hashlib
import json
import logging
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import zipfile
from urllib.parse import quote, unquote

from debian.copyright import Copyright, NotMachineReadableError
from debian.debfile import DebFile

PROJECT = pathlib.Path(__file__).resolve().parents[2]
HOME = "https://github.com/streamscope/streamscope"
OWNER = "Organization: StreamScope contributors"
LICENSE_OF = re.compile(r"(?:share/doc/[^/]+|\.dist-info)/licenses/([a-z0-9][a-z0-9.+-]+)$")
PAGE_PART_OF = re.compile(r"(?:share/doc/[^/]+|\.dist-info)/licenses-of-page/([a-z0-9][a-z0-9.+-]+)_([^/_]+)_([a-z0-9]+)$")
LIBRARY_OF = re.compile(r"lib/streamscope/([^/]+\.so[^/]*)$")  # carried

# Debian's short names of licenses and what SPDX calls them. A "+" is "or later".
SPDX = {
    "apache-2.0": "Apache-2.0", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause", "bsl-1.0": "BSL-1.0", "cc0-1.0": "CC0-1.0",
    "expat": "MIT", "ftl": "FTL", "isc": "ISC", "mit": "MIT", "ofl-1.1": "OFL-1.1", "zlib": "Zlib",
    **{f"{family}-{version}{later}": f"{family.upper()}-{version}{'.0' if '.' not in version else ''}-{'or-later' if later else 'only'}"
       for family, versions in {"gpl": "1 2 3", "lgpl": "2 2.1 3"}.items() for version in versions.split() for later in ("", "+")},
}

# Of packages whose copyright file gives, for all files that it does not list, the license of their programs, which are not carried.
OF_LIBRARY = {"libdw1": "LGPL-3+ or GPL-2+", "libelf1": "LGPL-3+ or GPL-2+"}


class Sbom:
    def __init__(self, folder, distribution):
        self.folder = folder
        self.packages = {}  # SPDXID → package
        self.relationships = []
        self.texts = {}  # LicenseRef → text of a license that SPDX has no name for
        self.distribution = distribution

    def add_files(self):
        for path in sorted(self.folder.iterdir()):
            owner = self.add_file(path)
            self.relate("SPDXRef-DOCUMENT", "DESCRIBES", owner)
            for package in carried(path):
                self.relate(owner, "CONTAINS", self.add_debian(package))
            for name, own, architecture, text in page_parts(path):
                self.relate(owner, "CONTAINS", self.add_page_part(name, own, architecture, text))

    def add_file(self, path):
        name = f"SPDXRef-File-{re.sub('[^A-Za-z0-9.]', '-', path.name)}"
        self.packages[name] = {
            "SPDXID": name,
            "name": path.name,
            "packageFileName": path.name,
            "versionInfo": version(),
            "supplier": OWNER,
            "downloadLocation": f"{HOME}/releases/download/v{version()}/{path.name}",
            "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}],
            "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0",
            "copyrightText": "2026 StreamScope contributors",
        }
        return name

    def add_debian(self, package):
        name = f"SPDXRef-Debian-{re.sub('[^A-Za-z0-9.]', '-', package)}"
        if name in self.packages:
            return name
        # Several architectures may be installed; the first is that of the machine.
        shown = output("dpkg-query", "--show", "--showformat=${Version} ${Architecture} ${source:Package} ${source:Version}\n", package)
        own, architecture, source, _ = shown.splitlines()[0].split()
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8", errors="replace")
        self.describe(name, package, own, architecture, text, f"built from the source package {source}", self.distribution)
        return name

    def add_page_part(self, package, own, architecture, text):
        name = f"SPDXRef-Page-{re.sub('[^A-Za-z0-9.]', '-', package)}"
        if name not in self.packages:
            self.describe(name, package, own, architecture, text, "compiled into the viewer's pages", PAGES_ARE_MADE_ON)
        return name

    def describe(self, name, package, own, architecture, text, source_info, distribution):
        declared, others = self.licenses(package, text)
        self.packages[name] = {
            "SPDXID": name,
            "name": package,
            "versionInfo": own,
            "supplier": f"Organization: {distribution.vendor}",
            "sourceInfo": source_info,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": declared,
            "licenseComments": others,
            "copyrightText": "NOASSERTION",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": f"pkg:deb/{distribution.id}/{quote(package)}@{quote(own)}?arch={architecture}&distro={distribution.name}",
            }],
        }

    def licenses(self, package, text):
        """The license of most files of a package as an SPDX expression, and which others its copyright file names."""
        try:
            paragraphs = list(Copyright(text.splitlines(keepends=True), strict=False).all_files_paragraphs())
        except (NotMachineReadableError, ValueError):
            paragraphs = []
        names = [(files.files, files.license.synopsis) for files in paragraphs if files.license and files.license.synopsis]
        if not names:
            return self.reference(package, "copyright", text), "as in Debian's copyright file, which is plain text"
        main = next((license for files, license in names if "*" in files), names[0][1])
        main = next((license for _, license in names if license == OF_LIBRARY.get(package)), main)
        others = sorted({license for _, license in names} - {main})
        return self.expression(package, main, text), f"other files of its source: {', '.join(others)}" if others else "all of its files"

    def expression(self, package, license, text):
        """Debian's "A or B", "A and B" for SPDX, with references for what has no name there."""
        if re.search(r"\bwith\b|,", license):  # an exception; a list that needs brackets
            return self.reference(package, license, text)
        words = [word for word in re.split(r"\s+(and|or)\s+", license)]
        return " ".join(word.upper() if word in ("and", "or") else SPDX.get(word.lower()) or self.reference(package, word, text) for word in words)

    def reference(self, package, license, text):
        name = f"LicenseRef-{package}-{license}".replace("+", "-or-later")
        name = re.sub("[^A-Za-z0-9.-]+", "-", name)
        self.texts[name] = text
        return name

    def relate(self, one, kind, other):
        self.relationships.append({"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other})

    def document(self):
        digests = "".join(sorted(package["checksums"][0]["checksumValue"] for package in self.packages.values() if "checksums" in package))
        name = f"streamscope-{version()}-{self.distribution.name}"
        seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
        return {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": name,
            "documentNamespace": f"{HOME}/sbom/{name}-{hashlib.sha256(digests.encode()).hexdigest()}",
            "creationInfo": {
                "created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "creators": [f"Tool: sbom.py-{version()}", OWNER],
            },
            "packages": list(self.packages.values()),
            "relationships": self.relationships,
            "hasExtractedLicensingInfos": [
                {"licenseId": name, "name": name.removeprefix("LicenseRef-"), "extractedText": text} for name, text in sorted(self.texts.items())
            ],
        }


@dataclasses.dataclass
class Distribution:
    id: str
    name: str
    vendor: str


PAGES_ARE_MADE_ON = Distribution("debian", "debian12", "Debian")


def distribution_here():
    release = platform.freedesktop_os_release()
    return Distribution(release["ID"], f"{release['ID']}{release.get('VERSION_ID', '')}", release["NAME"].split()[0])


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def version():
    text = (PROJECT / "profiler/python/streamscope/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.*?)"', text, re.M)[1]


def files_of(path):
    """The names of the files in a package, archive or wheel; none for anything else."""
    if path.suffix == ".deb":
        return [member.lstrip("./") for member in DebFile(path).data]
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            return archive.getnames()
    return []


def read(path, name):
    """A file in a package, archive or wheel, as text."""
    if path.suffix == ".deb":
        return DebFile(path).data.get_content(name, encoding="utf-8", errors="replace")
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return archive.read(name).decode("utf-8", errors="replace")
    with tarfile.open(path) as archive:
        return archive.extractfile(name).read().decode("utf-8", errors="replace")


def page_parts(path):
    """What the viewer's pages in a file are made of: name, version, architecture, text of the license."""
    for name in files_of(path):
        if found := PAGE_PART_OF.search(name):
            yield *map(unquote, found.groups()), read(path, name)


def carried(path):
    """The Debian packages that a file has something of. Each carried library must have its license there."""
    names = files_of(path)
    packages = sorted({found[1] for found in map(LICENSE_OF.search, names) if found})
    for found in filter(None, map(LIBRARY_OF.search, names)):
        owners = {line.partition(":")[0] for line in output("dpkg-query", "--search", f"*/{found[1]}").splitlines()}
        if not owners & set(packages):
            sys.exit(f"sbom: {path}: {found[1]} is carried without the license of {' or '.join(sorted(owners))}; see cmake/packaging/licenses.cmake")
    return packages


def main(arguments):
    if len(arguments) != 1 or not pathlib.Path(arguments[0]).is_dir():
        sys.exit(__doc__.strip())
    logging.getLogger("debian").setLevel(logging.ERROR)  # it may find fault with Debian's copyright files
    folder, distribution = pathlib.Path(arguments[0]), distribution_here()
    path = folder / f"streamscope-{version()}-{distribution.name}.spdx.json"
    path.unlink(missing_ok=True)
    sbom = Sbom(folder, distribution)
    sbom.add_files()
    path.write_text(json.dumps(sbom.document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
