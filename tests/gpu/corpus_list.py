# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads lists of the programs that `tests/gpu/run corpus` records. corpus.txt describes the format."""

import configparser
import dataclasses
import pathlib
import re
import shlex
import string

KINDS = ("streams", "graphs", "driver", "processes", "python")
PROJECT_KEYS = {"repository", "commit"}
PROGRAM_KEYS = {"folder", "sources", "build", "run", "kinds", "output", "races", "needs", "confirmed", "limit"}
VARIABLES = ("TOP", "OUT", "CUDA", "FLAGS", "BUILD", "PYTHON")  # that run may use; build is for a shell
HERE = pathlib.Path(__file__).resolve().parent
LISTS = HERE / "corpus.txt", HERE / "corpus_others.txt"
OWN = "."  # the repository of programs that lie in this one


class ListError(Exception):
    """A list that cannot be used: file, section, what is wrong."""


@dataclasses.dataclass
class Project:
    name: str
    repository: str  # owner/name, or OWN
    commit: str

    @property
    def is_own(self):
        return self.repository == OWN


@dataclasses.dataclass
class Program:
    name: str  # project/program
    project: Project
    folder: str  # where it is built and run
    sources: list = dataclasses.field(default_factory=list)  # further paths that it needs
    build: str = ""  # shell commands; empty for scripts
    run: str = ""
    kinds: tuple = ()
    output: str = ""  # "" is compared, "ignored" is not, else a pattern of lines that are left out
    races: str = ""  # "yes" or "no" where the truth is known
    needs: list = dataclasses.field(default_factory=list)  # Python modules
    confirmed: dict = dataclasses.field(default_factory=dict)  # finding number: the line that confirms it
    limit: float = 0  # seconds that it may take unrecorded; 0 is the runner's default

    @property
    def file_name(self):
        return re.sub(r"[^\w.-]", "_", self.name)


def read(paths):
    """(projects by name, programs by name) of all lists together, in their order."""
    projects, programs = {}, {}
    for path in map(pathlib.Path, paths):
        parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
        parser.optionxform = str
        try:
            parser.read_string(path.read_text(), str(path))
        except OSError as error:
            raise ListError(f"{path}: cannot be read: {error.strerror}") from None
        except configparser.Error as error:
            raise ListError(f"{path}: {' '.join(str(error).split())}") from None
        for section in parser.sections():
            where = f"{path}: [{section}]"
            if section.startswith("project "):
                project = _project(where, section.split(None, 1)[1], parser[section])
                if project.name in projects and projects[project.name] != project:
                    raise ListError(f"{where}: another list names a different repository or commit")
                projects[project.name] = project
            elif section in programs:
                raise ListError(f"{where}: listed twice")
            else:
                programs[section] = _program(where, section, parser[section], projects)
    return projects, programs


def write(path, projects, programs):
    """One list that reads back as these."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    for project in projects.values():
        parser[f"project {project.name}"] = {
            "repository": project.repository, **({"commit": project.commit} if project.commit else {})}
    for program in programs.values():
        keys = {
            "folder": program.folder, "sources": " ".join(program.sources), "build": program.build, "run": program.run,
            "kinds": " ".join(program.kinds), "output": program.output, "races": program.races,
            "needs": " ".join(program.needs), "limit": f"{program.limit:g}" if program.limit else "",
            "confirmed": "\n".join(f"{number} {line}" for number, line in program.confirmed.items())}
        parser[program.name] = {key: value for key, value in keys.items() if value}
    with open(path, "w") as file:
        parser.write(file)


def _refuse_unknown_keys(where, section, known):
    unknown = set(section) - known
    if unknown:
        raise ListError(f"{where}: unknown key {' '.join(sorted(unknown))}; known are {' '.join(sorted(known))}")


def _project(where, name, section):
    _refuse_unknown_keys(where, section, PROJECT_KEYS)
    repository, commit = section.get("repository", ""), section.get("commit", "")
    if repository == OWN:
        return Project(name, OWN, "")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise ListError(f"{where}: repository must be OWNER/NAME or '.'")
    if not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise ListError(f"{where}: commit must be 40 hex digits")
    return Project(name, repository, commit)


def _program(where, name, section, projects):
    _refuse_unknown_keys(where, section, PROGRAM_KEYS)
    project = projects.get(name.partition("/")[0])
    if project is None or "/" not in name:
        raise ListError(f"{where}: a program is named PROJECT/NAME, after its [project PROJECT]")
    if not section.get("run") or not section.get("folder"):
        raise ListError(f"{where}: folder and run are required")
    paths = [section["folder"], *section.get("sources", "").split()]
    if any(path.startswith("/") or ".." in path.split("/") for path in paths):
        raise ListError(f"{where}: paths must lie inside the repository")
    kinds = tuple(section.get("kinds", "").split())
    if set(kinds) - set(KINDS):
        raise ListError(f"{where}: unknown kind {' '.join(sorted(set(kinds) - set(KINDS)))}; known are {' '.join(KINDS)}")
    if section.get("races", "") not in ("", "yes", "no"):
        raise ListError(f"{where}: races must be yes or no")
    output = section.get("output", "")
    try:
        re.compile(output)
        limit = float(section.get("limit", 0))
        shlex.split(string.Template(section["run"]).substitute(dict.fromkeys(VARIABLES, "")))
    except re.error as error:
        raise ListError(f"{where}: output is no regular expression: {error}") from None
    except (ValueError, KeyError) as error:
        raise ListError(f"{where}: limit must be a number of seconds, and run a command line with $TOP, $OUT ...: {error}") from None
    confirmed = dict((line.split(None, 1) + [""])[:2] for line in section.get("confirmed", "").splitlines() if line.strip())
    if any(not re.fullmatch(r"SS\d+", number) or not line for number, line in confirmed.items()):
        raise ListError(f"{where}: confirmed must be lines of 'SSnnn FILE:LINE reason'")
    return Program(name, project, section["folder"], section.get("sources", "").split(), section.get("build", ""),
                   section["run"], kinds, output, section.get("races", ""), section.get("needs", "").split(), confirmed, limit)
