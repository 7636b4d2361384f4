#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of the Python package with the programs of a build.

  profiler/python/build_wheel.py BUILD [FOLDER]      FOLDER: where to put it (default: BUILD)

Needs Python 3.11 and the binutils. The wheel has the command line, the collector, libcoord and the demos, stripped, the viewer for
browsers if it was made, and the libraries that not every Linux has. It leaves out the viewer's window, which needs the machine's
graphics, and headers and manuals.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent
PACKAGE = "streamscope"
NATIVE = f"{PACKAGE}/native"  # where the package looks for bin/streamscope

# Of an installation: licenses of what is compiled into the programs, and into the viewer for browsers; its pages.
LICENSES = ("share/doc/streamscope/licenses", "share/doc/streamscope/licenses-of-page")
PAGES = "share/streamscope/viewer*.html"

# Part of every Linux with glibc and a C++ runtime.
EVERYWHERE = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so")
# Which minor version of glibc 2 comes with a C++ runtime of version GLIBCXX_3.4.N: that of the oldest large distribution.
GLIBC_OF_CXX = {29: 34, 30: 35, 31: 38, 32: 38, 33: 39}

SCRIPT = b"#!python\nfrom streamscope.program import main\n\nmain()\n"  # installers put their interpreter into the first line


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def installed(build, folder):
    """Installs the build into the folder; returns the files that the wheel takes, by their path in the wheel's own tree."""
    output("cmake", "--install", build, "--prefix", folder, "--strip")
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or path.is_symlink():
            continue
        if ".so" in path.name:  # under the name that programs look for, as a wheel has no links
            soname = re.search(r"\(SONAME\).*\[(.*)\]", output("readelf", "-d", path))
            files[str(pathlib.PurePosixPath(name).with_name(soname[1] if soname else path.name))] = path
        elif name == "bin/streamscope" or "libexec" in path.parts:
            files[name] = path
    if "bin/streamscope" not in files:
        sys.exit(f"build_wheel: {build} has no program streamscope; build it first")
    return files


def carried(program):
    """The libraries that the program needs and not every Linux has, by where it searches them."""
    search = re.search(r"\(RPATH\).*\[\$ORIGIN/\.\./(.*)\]", output("readelf", "-d", program))
    if search is None:
        sys.exit(f"build_wheel: {program} does not search a folder of its own (profiler/cli/CMakeLists.txt)")
    found = re.findall(r"(\S+) => (/\S+)", output("ldd", program))
    return {f"{search[1]}/{name}": pathlib.Path(path) for name, path in found if not EVERYWHERE.match(name)}


def licenses(installation, libraries):
    """The license texts of what is compiled in, and of those libraries that are from packages of Debian."""
    texts = {f"{path.parent.name}/{path.name}": path.read_bytes() for folder in LICENSES for path in sorted((installation / folder).glob("*"))}
    for library in libraries if shutil.which("dpkg-query") else []:
        # By its name: ldd may say /lib where the package says /usr/lib.
        search = ["dpkg-query", "--search", f"*/{library.resolve().name}"]
        package = subprocess.run(search, stdout=subprocess.PIPE, text=True).stdout.split(":")[0]
        text = pathlib.Path("/usr/share/doc", package, "copyright")
        if package and text.exists():
            texts[f"licenses/{package}"] = text.read_bytes()
    return texts


def platform(files):
    """The platform of the wheel: the oldest glibc that has everything the files need."""
    minor = 0
    for path in files:
        needs = output("readelf", "--version-info", "--wide", path)
        minor = max([minor, *map(int, re.findall(r"Name: GLIBC_2\.(\d+)", needs))])
        cxx = max(map(int, re.findall(r"Name: GLIBCXX_3\.4\.(\d+)", needs)), default=0)
        if cxx >= min(GLIBC_OF_CXX):
            if cxx not in GLIBC_OF_CXX:
                return "linux_x86_64"
            minor = max(minor, GLIBC_OF_CXX[cxx])
    return f"manylinux_2_{minor}_x86_64"


def metadata(project, version, tag):
    """The files that describe the wheel."""
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}"]
    lines += [f"License: {project['license']['text']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {classifier}" for classifier in project["classifiers"]]
    entries = []
    for group, names in project["entry-points"].items():
        entries += [f"[{group}]", *(f"{name} = {place}" for name, place in names.items())]
    wheel = ["Wheel-Version: 1.0", "Generator: build_wheel.py", "Root-Is-Purelib: false", f"Tag: {tag}"]
    return {
        "METADATA": "\n".join([*lines, ""]).encode(),
        "WHEEL": "\n".join([*wheel, ""]).encode(),
        "entry_points.txt": "\n".join([*entries, ""]).encode(),
        "licenses/LICENSE": (SOURCE / "../../LICENSE").read_bytes(),
    }


def write(path, contents):
    """Writes a zip file. contents: path in it → (bytes, whether it is a program)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, executable) in contents.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same build makes the same bytes
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def record(contents, name):
    lines = []
    for path, (data, _) in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}")
    return "\n".join([*lines, f"{name},,", ""]).encode()


def build_wheel(build, folder):
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    version = re.search(r'__version__ = "(.*)"', (SOURCE / PACKAGE / "__init__.py").read_text())[1]
    with tempfile.TemporaryDirectory() as scratch:
        programs = installed(build, pathlib.Path(scratch))
        libraries = carried(programs["bin/streamscope"])
        built = output(programs["bin/streamscope"], "--version").split()[1]
        if built != version:
            sys.exit(f"build_wheel: the program is version {built}, the package is version {version}; build it again")
        tag = f"py3-none-{platform([*programs.values(), *libraries.values()])}"
        description = f"{PACKAGE}-{version}.dist-info"
        contents = {}
        for path in [*sorted((SOURCE / PACKAGE).glob("*.py")), SOURCE / PACKAGE / "py.typed"]:
            contents[f"{PACKAGE}/{path.name}"] = (path.read_bytes(), False)
        for name, path in {**programs, **libraries}.items():
            contents[f"{NATIVE}/{name}"] = (path.read_bytes(), True)
        for path in sorted(pathlib.Path(scratch).glob(PAGES)):
            contents[f"{NATIVE}/{path.relative_to(scratch).as_posix()}"] = (path.read_bytes(), False)
        contents[f"{PACKAGE}-{version}.data/scripts/streamscope"] = (SCRIPT, True)
        for name, data in {**metadata(project, version, tag), **licenses(pathlib.Path(scratch), libraries.values())}.items():
            contents[f"{description}/{name}"] = (data, False)
        contents[f"{description}/RECORD"] = (record(contents, f"{description}/RECORD"), False)
        path = folder / f"{PACKAGE}-{version}-{tag}.whl"
        write(path, contents)
    return path


def main(arguments):
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        sys.exit(__doc__.strip())
    folder = pathlib.Path(arguments[-1])
    folder.mkdir(parents=True, exist_ok=True)
    path = build_wheel(pathlib.Path(arguments[0]), folder)
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
