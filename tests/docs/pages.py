# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The fenced blocks of a page of the documentation, and the marks that say how they are tested.

  tests/docs/pages.py PAGE FILE    prints the block of the page that is the content of this file

A mark is an HTML comment before a fence, which readers do not see:

  <!-- needs: gpu program:nvcc -->   not run where one of these is missing; the options are still checked
  <!-- needs: display in view -->    the same for the commands that contain this text
  <!-- before: mkdir data -->        commands that run before the block and are not shown; a block that is not run skips them, too
  <!-- file: app.cpp -->             the block is the content of this file, which it becomes
  <!-- run: COMMAND -->              runs in place of the commands of the block, whose output is compared with its output
  <!-- interrupt: --serve -->        the commands that contain this text are ended by Ctrl-C when they have printed something
  <!-- measures: ./dev bench -->     exit code 1 of the commands that contain this text says that the machine is slow: it is no mistake
  <!-- exit: 1 -->                   exit code of the last command, instead of 0

What a block may need: gpu; root; packages (those of `./dev package`); network; cluster; github; display; web (the pages of `./dev web`);
checkout (a clone, in which it takes long); program:NAME; python:MODULE.
"""

import dataclasses
import pathlib
import re
import shlex
import subprocess
import sys

CONDITIONS = {"gpu", "root", "packages", "network", "cluster", "github", "display", "web", "checkout"}
SHELL = {"sh", "bash", "console"}
MARKS = {"needs", "before", "file", "run", "interrupt", "measures", "exit"}
MARK = re.compile(r"<!--\s*(\w+):\s*(.*?)\s*-->", re.S)
FENCE = re.compile(r"^(\s*)(```+)\s*(\S*)\s*$")


class PageError(Exception):
    """A page that the tests cannot read."""


@dataclasses.dataclass
class Command:
    text: str
    line: int
    output: str = None  # None: not shown
    exit_code: int = 0
    interrupted: bool = False
    measures: bool = False


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    needs: list = dataclasses.field(default_factory=list)  # (need, text of the commands that have it)
    before: str = ""
    file: str = ""
    run: str = ""
    interrupt: str = ""
    measures: str = ""
    exit_code: int = 0

    def commands(self):
        """What the block runs: each command with the output that the page shows for it."""
        if self.file or (self.language not in SHELL and not self.run):
            return []
        shown = console_commands(self) if self.language == "console" else []
        if self.run:
            output = "".join(command.output or "" for command in shown) if shown else self.text
            result = [Command(self.run, self.line, output)]
        elif self.language == "console":
            result = shown
        else:
            result = shell_commands(self.text, self.line + 1)
        if result:
            result[-1].exit_code = self.exit_code
        for command in result:
            command.interrupted = bool(self.interrupt) and self.interrupt in command.text
            command.measures = bool(self.measures) and self.measures in command.text
        return result

    def needs_of(self, command):
        return [need for need, text in self.needs if text in command]

    def shown_commands(self):
        """What a reader would type."""
        if self.file or self.language not in SHELL:
            return []
        return console_commands(self) if self.language == "console" else shell_commands(self.text, self.line + 1)


def is_whole(text):
    """Whether bash could run this text, or waits for more lines."""
    if text.endswith("\\"):
        return False
    done = subprocess.run(["bash", "-n"], input=text + "\n", capture_output=True, text=True, check=False)
    return done.returncode == 0 and not done.stderr


def shell_commands(text, first_line):
    """The commands of a script, one by one."""
    result, lines, at = [], [], first_line
    for number, line in enumerate(text.splitlines(), first_line):
        if not lines and (not line.strip() or line.lstrip().startswith("#")):
            continue
        if not lines:
            at = number
        lines.append(line)
        if is_whole("\n".join(lines)):
            result.append(Command("\n".join(lines), at))
            lines = []
    if lines:
        raise PageError(f"line {at}: this is no whole command: {lines[0]}")
    return result


def console_commands(block):
    """The commands after `$ `, each with the lines that follow it as its output; a line that ends in a backslash goes on."""
    result = []
    goes_on = False
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if goes_on:
            result[-1].text += "\n" + line
        elif line.startswith("$ "):
            result.append(Command(line[2:], number, ""))
        elif not result:
            raise PageError(f"line {number}: a console block begins with '$ COMMAND'")
        else:
            result[-1].output += line + "\n"
        goes_on = line.endswith("\\") and (goes_on or line.startswith("$ "))
    return result


def with_marks(block, marks):
    for name, value in marks:
        if name not in MARKS:
            raise PageError(f"line {block.line}: no mark '{name}'; there are {', '.join(sorted(MARKS))}")
        if name == "needs":
            needs, _, text = value.partition(" in ")
            for need in needs.split():
                block.needs.append((need, text))
                if need not in CONDITIONS and not re.fullmatch(r"(program|python):\S+", need):
                    raise PageError(f"line {block.line}: no such need '{need}'; there are {', '.join(sorted(CONDITIONS))}, program:NAME, python:MODULE")
        elif name == "exit":
            block.exit_code = int(value)
        else:
            setattr(block, name, value)
    if block.run and block.language not in SHELL | {"text"}:
        raise PageError(f"line {block.line}: 'run' is for blocks of output: text or console")
    return block


def blocks(text):
    """The fenced blocks of a page, with their marks."""
    result, lines, at = [], text.splitlines(), 0
    since_block = 0  # marks stand between here and the fence
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if not opening:
            at += 1
            continue
        indent, ticks, language = opening.groups()
        end = at + 1
        while end < len(lines) and lines[end].strip() != ticks:
            end += 1
        if end == len(lines):
            raise PageError(f"line {at + 1}: this block does not end")
        if not language:
            raise PageError(f"line {at + 1}: a block without a language: sh, console, text, cpp, ...")
        content = "".join((line[len(indent):] if line.startswith(indent) else line.lstrip()) + "\n" for line in lines[at + 1:end])
        block = Block(at + 1, language, content)
        result.append(with_marks(block, marks_above("\n".join(lines[since_block:at]))))
        at = since_block = end + 1
    return result


def marks_above(text):
    """Marks at the end of the text, with nothing but blank lines after them."""
    result = []
    while True:
        text = text.rstrip()
        start = text.rfind("<!--")
        mark = MARK.fullmatch(text[start:]) if start >= 0 else None
        if mark is None:
            return result[::-1]
        result.append((mark[1], mark[2]))
        text = text[:start]


def spans(text):
    """(line, code) of each span of code in the text outside fences."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        opening = FENCE.match(line)
        if opening and fence is None:
            fence = opening[2]
        elif fence is not None:
            fence = None if line.strip() == fence else fence
        else:
            for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                yield number, span


def words(text):
    """The simple commands of a shell text, as lists of words."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    result = [[]]
    try:
        for word in lexer:
            if set(word) <= set("();<>|&"):
                result.append([])
            else:
                result[-1].append(word)
    except ValueError:  # a text that shlex does not understand, such as a here-document with an apostrophe
        return [line.split() for line in text.splitlines()]
    return [command for command in result if command]


def content_of(page, name):
    for block in blocks(pathlib.Path(page).read_text(encoding="utf-8")):
        if block.file == name:
            return block.text
    raise PageError(f"{page} has no block that is the file {name}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    print(content_of(*sys.argv[1:]), end="")
