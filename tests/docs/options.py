# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the commands and options that a page names exist, by what the programs say about themselves."""

import functools
import pathlib
import re
import subprocess

import pages

PROGRAM = "streamscope"


def ask(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


class Known:
    """Commands and options of `streamscope` and of `./dev`, if there is one."""

    def __init__(self, program=PROGRAM, dev=None):
        self._program = program
        self._viewer = pathlib.Path(program).with_name(PROGRAM + "-viewer")
        self.commands = set(re.findall(r"^  ([a-z]+) ", ask(program, "--help"), re.M))
        self.verbs = set(re.findall(r"^  ([a-z]+) ", ask(dev, "help"), re.M)) if dev else None

    @functools.lru_cache(maxsize=None)
    def options(self, command):
        said = ask(self._program, *([command] if command else []), "--help")
        if command == "view" and self._viewer.exists():  # which gets its other options
            said += ask(str(self._viewer), "--help")
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", said))

    def mistakes(self, text):
        """What does not exist, of the commands in a shell text."""
        for words in pages.words(text):
            first = next((word for word in words if "=" not in word and word not in ("sudo", "timeout", "env", "time")), "")
            for at, word in enumerate(words):
                is_first = word == first and at == words.index(first)
                if word == PROGRAM or word.endswith("/bin/" + PROGRAM):
                    yield from self._mistakes_after(words[at + 1:], is_first)
                elif word == "./dev" and is_first and self.verbs:
                    verb = words[at + 1] if at + 1 < len(words) else "help"
                    if verb not in self.verbs and verb.islower():
                        yield f"./dev has no verb '{verb}'"

    def _mistakes_after(self, words, is_command):
        command = words[0] if words else ""
        if command.startswith("-"):
            command = ""
        elif command not in self.commands:
            # A package or an image may have the name of the program.
            if is_command and re.fullmatch(r"[a-z]+", command):
                yield f"streamscope has no command '{command}'"
            return
        if command == "view" and not self._viewer.exists():
            return  # nothing here knows its options
        for word in words:
            if word == "--":
                return
            if not re.match(r"--?[a-zA-Z]", word):
                continue
            option = word.partition("=")[0]
            if option not in self.options(command) and option not in ("--help", "-h"):
                yield f"streamscope {command} has no option {option}"
