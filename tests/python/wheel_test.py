# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The wheel: what is in it, and that it works in a fresh virtual environment; and the package installed from its sources."""

import base64
import hashlib
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import zipfile

import pytest

import streamscope as package
from conftest import BUILD
from streamscope import program

SOURCE = pathlib.Path(package.__file__).parents[1]
LARGEST_MB = 25
SLOWEST_START_S = 0.020
SOVERSION = package.__version__.rpartition(".")[0]  # of libcoord

pytest.importorskip("ensurepip", reason="python3-venv is not installed")
if sys.version_info < (3, 11):
    pytest.skip("build_wheel.py needs Python 3.11", allow_module_level=True)


def run(*command, **options):
    """What a command prints, which has to succeed. Without the variables by which these tests find package and program."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("STREAMSCOPE_", "PYTHON"))}
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", env=environment, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, SOURCE / "build_wheel.py", BUILD, folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The bin folder of a virtual environment that has the wheel."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "--no-index", wheel)
    return folder / "bin"


def test_every_file_is_recorded_with_its_digest(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (record,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        lines = [line.split(",") for line in archive.read(record).decode().splitlines()]
        assert sorted(name for name, _, _ in lines) == sorted(archive.namelist())
        for name, digest, size in lines:
            data = archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert name == record or (digest == f"sha256={expected}" and int(size) == len(data)), name


def test_is_small_and_has_the_program_and_its_libraries(wheel):
    assert wheel.stat().st_size <= LARGEST_MB * 1e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in ("bin/streamscope", "libexec/streamscope/race", "lib/libstreamscope_inject.so", f"lib/libcoord.so.{SOVERSION}"):
        assert f"streamscope/native/{name}" in names
    assert any("/lib/streamscope/libfmt.so" in name for name in names)
    assert not any(name.endswith(("/libc.so.6", "-viewer")) for name in names)


def test_works_in_a_fresh_environment(installed, work):
    said = run(installed / "python", "-c", "import streamscope; print(streamscope.__version__)").strip()
    assert run(installed / "streamscope", "--version").split()[:2] == ["streamscope", said]
    assert run(installed / "python", "-m", "streamscope", "--version").split()[:2] == ["streamscope", said]
    run(installed / "streamscope", "demo", "race", "--device", "sim", "--quiet", "-o", "race.sqlite")
    script = "import streamscope; trace = streamscope.open('race.sqlite'); print(len(trace.ops), trace.check()['result'])"
    assert run(installed / "python", "-c", script).split() == ["33", "failed"]


def test_the_program_of_the_wheel_uses_the_libraries_of_the_wheel(installed):
    (program_file,) = installed.parent.glob("lib/python3*/site-packages/streamscope/native/bin/streamscope")
    lines = [line for line in run("ldd", program_file).splitlines() if "libfmt" in line or "libdw" in line or "libbz2" in line]
    assert len(lines) == 3
    assert all(str(program_file.parent) in line for line in lines), lines


def test_the_command_starts_quickly(installed):
    def processor_seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(installed / "streamscope", "--version")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    times = [processor_seconds() for _ in range(40)]
    print(f"streamscope --version: least {min(times) * 1e3:.1f} ms, median {statistics.median(times) * 1e3:.1f} ms")
    assert min(times) <= SLOWEST_START_S  # of the processor, which others share; an interpreter alone takes longer



def test_installs_from_sources_without_a_network(work):
    pytest.importorskip("setuptools", reason="python3-setuptools is not installed")
    pytest.importorskip("wheel", reason="python3-wheel is not installed")
    shutil.copytree(SOURCE, work / "source")
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", "venv")
    pip = ["-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps"]
    run("venv/bin/python", *pip, work / "source")
    assert not os.path.exists("venv/bin/streamscope"), "the command is the program in PATH"
    search = {**os.environ, "PATH": f"{pathlib.Path(program.find()).parent}:{os.environ['PATH']}"}
    for name in ("STREAMSCOPE_BIN", "PYTHONPATH"):
        del search[name]
    for command in (["-m", "streamscope", "--version"], ["-m", "pytest", "--fixtures", "-q"]):
        done = subprocess.run(["venv/bin/python", *command], stdout=subprocess.PIPE, encoding="utf-8", env=search)
        assert "streamscope" in done.stdout, f"{command}: {done.stdout}"


def test_a_program_of_another_version_is_refused(work):
    shutil.copytree(SOURCE, work / "profiler/python")
    module = work / "profiler/python/streamscope/__init__.py"
    module.write_text(module.read_text().replace(package.__version__, "9.9"))
    done = subprocess.run([sys.executable, "profiler/python/build_wheel.py", BUILD, "."], stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 1
    assert f"the program is version {package.__version__}, the package is version 9.9" in done.stderr
