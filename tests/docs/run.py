#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation and compares their outputs with those that the pages show.

  tests/docs/run.py [--build BUILD] [--packages FOLDER] [--checkout FOLDER] [--have CONDITIONS] [PAGE...]

Without a PAGE: README.md and every page below docs/. pages.py describes the marks by which a page says what its blocks need.
Commands that cannot run here are checked for commands and options that do not exist.

  --build BUILD        programs and libraries of this build, and the Python package of this repository
  --packages FOLDER    instead: a machine on which everything is installed from the packages in this folder, as the pages say
  --checkout FOLDER    a clone, in which the commands that need one run
  --have CONDITIONS    what else there is, comma-separated: root, packages, network, ...
"""

import argparse
import importlib.util
import os
import pathlib
import shutil
import sys
import time

import options
import pages
import shown_output
from desktop import Desktop
from session import Session

# Limits. PyTorch begins slowly, and confirm runs a program six times; what is installed comes from elsewhere; a clone is built and tested.
COMMAND_S, GPU_S, INSTALLING_S, CHECKOUT_S = 60, 240, 600, 7200
ROOT = pathlib.Path(__file__).resolve().parents[2]
# Set for other commands. A clone has its own build; its tests must reach their scratch folders as another user, too.
NOT_FOR_A_CLONE = ("CPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_VISIBLE_DEVICES", "TMPDIR")
HISTORY = ("docs/CHANGELOG.md", "docs/decisions/")  # name options of former versions
# Variables by which a program could take itself for one of a job or of a recording.
FOREIGN = ("STREAMSCOPE_", "OMPI_", "PMI", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_", "DISPLAY", "WAYLAND_DISPLAY")


def all_pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def has_gpu():
    return pathlib.Path("/dev/nvidiactl").exists() and pathlib.Path("/dev/nvidia0").exists()


def is_there(need, have, path):
    kind, _, name = need.partition(":")
    if kind == "program":
        return shutil.which(name, path=path) is not None
    if kind == "python":
        return importlib.util.find_spec(name) is not None
    return need in have or (need == "gpu" and has_gpu())


def environment_of(arguments):
    """For commands: what the machine has, without traces of who runs the test."""
    result = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN) or name == "SLURM_CONF"}
    result.update(LANG="C.UTF-8", PYTHONDONTWRITEBYTECODE="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1", SOURCE=str(ROOT))
    if arguments.build:
        build = arguments.build.resolve()
        result.update(PATH=f"{build}/bin:{result['PATH']}", BUILD=str(build), PYTHONPATH=str(ROOT / "profiler/python"),
                      CPATH=str(ROOT / "libcoord/include"), LIBRARY_PATH=str(build / "lib"), LD_LIBRARY_PATH=str(build / "lib"))
    return result


class PageRun:
    """One page: what ran, what was only checked, what is wrong."""

    def __init__(self, path, known, have, checkout):
        self.name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        self.path, self.known, self.have, self.checkout = path, known, have, checkout
        self.ran, self.compared, self.checked, self.wrong = 0, 0, [], []

    def fail(self, line, text):
        self.wrong.append(f"{self.name}:{line}: {text}")

    def check_options(self, text, line):
        for mistake in self.known.mistakes(text):
            self.fail(line, f"{mistake}: {text.strip()}")

    def check(self, blocks, text):
        for block in blocks:
            if block.language in pages.SHELL:
                for command in block.shown_commands():
                    self.check_options(command.text, command.line)
            else:
                for number, line in enumerate(block.text.splitlines(), block.line + 1):
                    self.check_options(line.lstrip(" -$") if options.PROGRAM in line else "", number)
        if not self.name.startswith(HISTORY):
            for line, span in pages.spans(text):
                if span.startswith((options.PROGRAM + " ", "./dev ")):
                    self.check_options(span, line)

    def run(self, session, blocks):
        for block in blocks:
            if block.file:
                path = session.cwd() / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
            runnable = []
            for command in block.commands():
                missing = [need for need in block.needs_of(command.text) if not is_there(need, self.have, session.path)]
                if missing:
                    self.checked.append((command, missing))
                else:
                    runnable.append(command)
            hidden = pages.shell_commands(block.before, block.line) if block.before and (runnable or block.file) else []
            for command in [*(pages.Command(command.text, block.line) for command in hidden), *runnable]:
                self.ran += command in runnable
                if not self.run_command(session, command, set(block.needs_of(command.text))):
                    return  # what follows builds on it

    def run_command(self, session, command, needs):
        mistakes = len(self.wrong)
        device = "unset CUDA_VISIBLE_DEVICES" if "gpu" in needs else "export CUDA_VISIBLE_DEVICES="  # no GPU: the simulated device
        limits = {"checkout": CHECKOUT_S, "packages": INSTALLING_S, "network": INSTALLING_S, "gpu": GPU_S}
        time_limit_s = max((limit for need, limit in limits.items() if need in needs), default=COMMAND_S)
        if "display" in needs:
            with Desktop() as desktop:
                code, output = session.run(f"{device}\nexport DISPLAY={desktop.display}\n{command.text}", time_limit_s)
            if desktop.windows == 0:
                self.fail(command.line, f"{command.text}: opened no window\n{output.rstrip()}")
        elif "checkout" in needs:  # as if nothing else were installed
            code, output = session.run(f'(cd "{self.checkout}" || exit; unset {" ".join(NOT_FOR_A_CLONE)}\n{command.text}\n)', time_limit_s)
        else:
            code, output = session.run(f"{device}\n{command.text}", time_limit_s, command.interrupted)
        shown = f"{command.text}\n{output.rstrip()}"
        if code is None:
            self.fail(command.line, f"did not end within {time_limit_s} s: {shown}")
        elif code != command.exit_code and not (command.measures and code == 1):
            self.fail(command.line, f"exit code {code} instead of {command.exit_code}: {shown}")
        elif command.output is not None and command.output.strip():
            self.compared += 1
            if difference := shown_output.difference(command.output, output):
                self.fail(command.line, f"{command.text}: the output differs:\n{difference}\nall of it:\n{output.rstrip()}")
        return len(self.wrong) == mistakes


def run_page(path, arguments, known, have, environment):
    """Runs a page and prints a line about it."""
    page = PageRun(path, known, have, arguments.checkout and arguments.checkout.resolve())
    began = time.monotonic()
    try:
        text = path.read_text(encoding="utf-8")
        blocks = pages.blocks(text)
        if known:
            page.check(blocks, text)
        with Session(environment, {"python": sys.executable, **({"sudo": ""} if "root" in have else {})}) as session:
            for package in sorted(arguments.packages.glob("*")) if arguments.packages else []:
                (session.folder / package.name).symlink_to(package.resolve())
            page.run(session, blocks)
    except pages.PageError as error:
        page.wrong.append(f"{page.name}: {error}")
    if page.ran or page.checked or page.wrong:
        print(f"{page.name}: {page.ran} ran ({page.compared} outputs compared), {len(page.checked)} only checked, "
              f"{time.monotonic() - began:.1f} s{', WRONG' if page.wrong else ''}", flush=True)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--checkout", type=pathlib.Path)
    parser.add_argument("--have", default="")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    have = set(filter(None, arguments.have.split(",")))
    if unknown := have - pages.CONDITIONS:
        parser.error(f"no such condition: {', '.join(sorted(unknown))}; there are {', '.join(sorted(pages.CONDITIONS))}")
    if not arguments.build and not arguments.packages:
        parser.error("name a build (--build) or a folder of packages (--packages)")
    if Desktop.is_possible() and (arguments.packages or (arguments.build / "bin/streamscope-viewer").exists()):
        have.add("display")
    if arguments.checkout:
        have.add("checkout")
    if arguments.build and (arguments.build.resolve().parent / "build-web/viewer.html").exists():
        have.add("web")
    known = None  # of packages, nothing is installed yet
    if arguments.build:
        program = shutil.which(options.PROGRAM, path=f"{arguments.build}/bin")
        if not program:
            sys.exit(f"{arguments.build} has no program {options.PROGRAM}: build it")
        known = options.Known(program, str(ROOT / "dev"))
    environment = environment_of(arguments)
    results = [run_page(path.resolve(), arguments, known, have, environment) for path in arguments.pages or all_pages()]
    checked = [(page, command, missing) for page in results for command, missing in page.checked]
    if checked:
        print("\nOnly checked, for want of:")
    for page, command, missing in checked:
        print(f"  {', '.join(missing)}: {page.name}:{command.line}: {command.text.splitlines()[0]}")
    wrong = [text for page in results for text in page.wrong]
    print("\n" + "\n\n".join(wrong) if wrong else "", end="")
    print(f"\n{sum(page.ran for page in results)} commands ran, {sum(page.compared for page in results)} outputs were compared, "
          f"{len(checked)} commands were only checked, {len(wrong)} mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
