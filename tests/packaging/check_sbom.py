#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks a software bill of materials against what SPDX 2.3 requires, and against the files that it describes.

  tests/packaging/check_sbom.py FILE [FOLDER]     FOLDER: has the files (default: that of FILE)
"""

import datetime
import hashlib
import json
import pathlib
import re
import sys

ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
LICENSE = r"(LicenseRef-[A-Za-z0-9.-]+|[A-Za-z0-9.-]+)"
EXPRESSION = re.compile(rf"{LICENSE}( (AND|OR) {LICENSE})*")
PURL = re.compile(r"pkg:deb/[a-z]+/[a-z0-9.%A-Z-]+@[^?@\s]+\?arch=\w+&distro=\w[\w.]*")


def breaches_of_document(sbom):
    wanted = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT"}
    for key, value in wanted.items():
        if sbom.get(key) != value:
            yield f"{key} is {sbom.get(key)!r} instead of {value!r}"
    if not sbom.get("name"):
        yield "has no name"
    if not re.fullmatch(r"https://[^\s#]+", sbom.get("documentNamespace", "")):
        yield "documentNamespace is no address without '#'"
    creation = sbom.get("creationInfo", {})
    try:
        datetime.datetime.strptime(creation.get("created", ""), "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        yield f"creationInfo.created is {creation.get('created')!r}, which is no time in UTC"
    creators = creation.get("creators", [])
    if not creators or not all(re.match(r"(Tool|Organization|Person): \S", creator) for creator in creators):
        yield f"creationInfo.creators is {creators!r}"


def breaches_of_package(package, licenses):
    where = package.get("name", "a package without a name")
    for key in ("name", "SPDXID", "versionInfo", "supplier", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
        if not package.get(key):
            yield f"{where}: has no {key}"
    if not ID.fullmatch(package.get("SPDXID", "")):
        yield f"{where}: SPDXID is {package.get('SPDXID')!r}"
    if package.get("filesAnalyzed") is not False:
        yield f"{where}: filesAnalyzed is not false, so SPDX requires a list of its files"
    for key in ("licenseConcluded", "licenseDeclared"):
        expression = package.get(key, "")
        if not EXPRESSION.fullmatch(expression):
            yield f"{where}: {key} is no license expression: {expression!r}"
        for name in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", expression):
            if name not in licenses:
                yield f"{where}: the text of {name} is missing"
    for reference in package.get("externalRefs", []):
        if not PURL.fullmatch(reference.get("referenceLocator", "")):
            yield f"{where}: {reference.get('referenceLocator')!r} is no package URL"


def breaches_of_relationships(sbom):
    known = {"SPDXRef-DOCUMENT", *(package.get("SPDXID") for package in sbom.get("packages", []))}
    related = set()
    for relation in sbom.get("relationships", []):
        related.add(relation["relatedSpdxElement"])
        for key in ("spdxElementId", "relatedSpdxElement"):
            if relation[key] not in known:
                yield f"a relationship names {relation[key]}, which is not there"
        if relation["relationshipType"] not in ("DESCRIBES", "CONTAINS"):
            yield f"a relationship of an unknown type: {relation['relationshipType']}"
    for name in sorted(known - related - {"SPDXRef-DOCUMENT"}):
        yield f"{name}: nothing describes or contains it"


def breaches_of_files(sbom, folder, own_name):
    """The described files are those of the folder, but for the bills and the checksums, which are made from them."""
    described = {package["packageFileName"]: package for package in sbom.get("packages", []) if "packageFileName" in package}
    there = {path.name for path in folder.iterdir()} - {own_name, "SHA256SUMS"}
    for name in sorted(there - set(described)):
        yield f"{name}: is in the folder but not described"
    for name, package in described.items():
        sums = {sum["algorithm"]: sum["checksumValue"] for sum in package.get("checksums", [])}
        if name not in there:
            yield f"{name}: is described but not in the folder"
        elif sums.get("SHA256") != hashlib.sha256((folder / name).read_bytes()).hexdigest():
            yield f"{name}: has another SHA-256 than described"


def breaches(path, folder):
    try:
        sbom = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        yield f"is no JSON: {error}"
        return
    texts = {license["licenseId"]: license.get("extractedText") for license in sbom.get("hasExtractedLicensingInfos", [])}
    names = [package.get("SPDXID") for package in sbom.get("packages", [])]
    yield from breaches_of_document(sbom)
    if not names:
        yield "has no packages"
    for name in sorted({str(name) for name in names if names.count(name) > 1}):
        yield f"{name}: is there twice"
    for package in sbom.get("packages", []):
        yield from breaches_of_package(package, {name for name, text in texts.items() if text})
    yield from breaches_of_relationships(sbom)
    yield from breaches_of_files(sbom, folder, path.name)


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    path = pathlib.Path(arguments[0])
    found = [f"{path}: {breach}" for breach in breaches(path, pathlib.Path(arguments[-1]) if len(arguments) == 2 else path.parent)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
