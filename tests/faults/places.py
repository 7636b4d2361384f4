# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The injector's table and log (injector.h), and which faults fit which call."""

import errno
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

HEADER = struct.Struct("<IiIIQQQQ")
SLOT = struct.Struct("<QQ")
SLOTS = 1 << 14
BYTES = HEADER.size + SLOTS * SLOT.size
NOTHING, COUNT, ERROR, SHORT, KILL_BEFORE, KILL_AFTER = range(6)
READ, WRITE, SPACE, NAME, DESCRIPTOR, MAPPING, TASK, SYNC, LOOK, HEAP = (1 << bit for bit in range(10))

# What a persistent fault affects in addition to its own call.
FULL_DISK = WRITE | SPACE
BROKEN_DISK = READ | WRITE | SYNC
STAYS = {"ENOSPC": FULL_DISK, "EDQUOT": FULL_DISK, "EFBIG": WRITE | SPACE, "EIO": BROKEN_DISK, "EMFILE": DESCRIPTOR,
         "ENFILE": DESCRIPTOR, "ENOMEM": MAPPING | TASK | HEAP, "EAGAIN": TASK, "EROFS": NAME | SPACE | WRITE,
         "EACCES": NAME, "EPERM": NAME}

# The errors that each call can give, the likeliest first; "short" is a part of what was requested.
_OPEN = "EMFILE EACCES ENOSPC EIO ENFILE ENOMEM EROFS EINTR"
_LOOK = "EACCES EIO ENOMEM ENOENT"
_ERRORS = {
    "open open64 openat openat64 creat mkstemp mkostemp mkostemp64 syscall:openat": _OPEN,
    "fopen fopen64 opendir fdopendir": "EMFILE EACCES EIO ENOMEM",
    "readdir readdir64": "EIO",
    "mkdtemp mkdir symlink": "ENOSPC EACCES EROFS EIO",
    "dup pipe pipe2 socket memfd_create": "EMFILE ENFILE ENOMEM",
    "dup2 dup3 syscall:dup3": "EMFILE EINTR",
    "read pread pread64 readv": "EIO short EINTR EAGAIN",
    "write pwrite pwrite64 writev": "ENOSPC EIO short EINTR EDQUOT EFBIG EROFS",
    "copy_file_range sendfile sendfile64": "ENOSPC EIO short EINTR EXDEV EINVAL",
    "ioctl": "EOPNOTSUPP EIO",
    "fwrite fputs fflush": "ENOSPC EIO EPIPE",
    "fread fgets": "EIO",
    "fsync fdatasync msync": "EIO ENOSPC EINTR",
    "ftruncate ftruncate64 truncate": "EIO ENOSPC EFBIG EINTR",
    "fallocate fallocate64 posix_fallocate posix_fallocate64": "ENOSPC EFBIG EIO EOPNOTSUPP EINTR EDQUOT",
    "lseek lseek64": "EIO EINVAL",
    "close fclose syscall:close": "EIO EINTR ENOSPC",
    "mmap mmap64": "ENOMEM EACCES ENODEV EAGAIN",
    "mremap mprotect": "ENOMEM",
    "munmap madvise": "ENOMEM EINVAL",
    "malloc calloc realloc": "ENOMEM",
    "unlink unlinkat remove copy_file_range sendfile64 sendfile mkostemp fchmod ftruncate": "EACCES EIO EROFS EBUSY",
    "rmdir": "ENOTEMPTY EACCES EIO",
    "rename link": "EACCES ENOSPC EIO EROFS",
    "chmod fchmod fchown": "EPERM EIO EROFS",
    "stat stat64 lstat lstat64 fstat fstat64 fstatat statvfs fstatvfs statfs access readlink realpath": _LOOK,
    "getcwd": "ENOENT EACCES ENOMEM",
    "getrlimit setrlimit": "EPERM EINVAL",
    "fcntl fcntl64 flock syscall:fcntl": "ENOLCK EAGAIN EINTR EIO",
    "poll nanosleep usleep clock_nanosleep sigtimedwait": "EINTR",
    "sigaction syscall:rt_sigaction syscall:rt_sigprocmask syscall:close_range syscall": "EINVAL ENOSYS EPERM",
    "waitpid": "EINTR",
    "pthread_create": "EAGAIN ENOMEM EPERM",
    "pthread_key_create": "EAGAIN ENOMEM",
    "fork __clone": "EAGAIN ENOMEM",
    "execvp syscall:execve": "ENOMEM EACCES ENOENT E2BIG",
    "setsid kill prctl ptrace": "EPERM ESRCH EINVAL",
    "process_vm_readv": "EPERM EFAULT short",
}
ERRORS = {call: errors.split() for calls, errors in _ERRORS.items() for call in calls.split()}
# What changes a file or a folder: before and after each of them a killed process leaves another state behind.
COMMITS = set("write pwrite pwrite64 writev fsync fdatasync ftruncate ftruncate64 fallocate posix_fallocate unlink unlinkat remove copy_file_range sendfile64 sendfile mkostemp fchmod ftruncate"
              " rename link rmdir mkdir open open64 openat close flock fcntl64 mmap mmap64 munmap".split())


HEAP_CALLS = ("malloc", "calloc", "realloc")


@dataclass(frozen=True)
class Pair:
    """A call at a place."""
    key: int
    role: str
    call: str
    file: int
    frames: tuple = field(compare=False)

    @property
    def is_heap(self):
        return self.call in HEAP_CALLS


@dataclass(frozen=True)
class Fault:
    pair: Pair
    action: int
    error: str = ""
    stays: bool = False
    nth: int = 1

    def text(self):
        what = {ERROR: self.error, SHORT: "short", KILL_BEFORE: "kill-before", KILL_AFTER: "kill-after"}[self.action]
        return f"{what}{'+' if self.stays else ''}@{self.nth}"

    @property
    def kills(self):
        return self.action in (KILL_BEFORE, KILL_AFTER)


def write_table(path, action, error=0, sticky=0, heap=False, wanted=0, nth=0):
    with open(path, "wb") as file:
        file.write(HEADER.pack(action, error, sticky, int(heap), wanted, nth, 0, 0))
        file.truncate(BYTES)


def arm(path, fault):
    sticky = 0
    if fault.stays:
        sticky = READ | WRITE if fault.action == SHORT else STAYS[fault.error]
    write_table(path, fault.action, getattr(errno, fault.error) if fault.error else 0, sticky, fault.pair.is_heap, fault.pair.key, fault.nth)


def read_counts(path):
    with open(path, "rb") as file:
        data = file.read()[HEADER.size:]
    return {key: count for key, count in SLOT.iter_unpack(data) if key}


def read_log(path, word):
    """The pairs of the lines that begin with `word`, each with the process that made the call."""
    found = []
    if not path.exists():
        return found
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == word:
            found.append((Pair(int(words[1], 16), words[2], words[3], int(words[5]), tuple(words[6:])), int(words[4])))
    return found


def faults_of(pair, count):
    """Every fault of a pair that was seen `count` times, the most informative first."""
    errors = ERRORS.get(pair.call, ["EIO"])
    numbers = list(dict.fromkeys(n for n in (1, count, (count + 1) // 2, 2) if 0 < n <= count))
    faults = []
    for nth in numbers:
        for error in errors:
            if error == "short":
                faults += [Fault(pair, SHORT, nth=nth), Fault(pair, SHORT, stays=True, nth=nth)]
                continue
            faults.append(Fault(pair, ERROR, error, nth=nth))
            if error in STAYS:
                faults.append(Fault(pair, ERROR, error, stays=True, nth=nth))
    first = [fault for fault in faults if fault.nth == 1]
    return first + [fault for fault in faults if fault.nth != 1]


def kills_of(pair, count, most):
    """Kills before and after the calls of a pair, spread over them."""
    if pair.call not in COMMITS:
        return []
    step = max(1, count // most)
    numbers = range(1, count + 1, step)
    return [Fault(pair, action, nth=nth) for nth in numbers for action in (KILL_BEFORE, KILL_AFTER)]


def short_name(function):
    """Without namespaces, template arguments and parameters."""
    return function.replace("(anonymous namespace)", "").split("(")[0].split("<")[0].split("::")[-1].strip() or function


class Names:
    """Functions by module and offset."""

    def __init__(self, modules):
        self.modules = {Path(module).name: module for module in modules}
        self.known = {}     # frame: the functions that were inlined there, the innermost first

    def learn(self, pairs):
        """Resolves all their frames at once."""
        wanted = {frame for pair in pairs for frame in pair.frames if frame not in self.known}
        for name, module in self.modules.items():
            frames = sorted(frame for frame in wanted if frame.split("+")[0] == name)
            # A return address is behind its call.
            addresses = "\n".join(hex(int(frame.split("+")[1], 16) - 1) for frame in frames)
            answers = subprocess.run(["addr2line", "-Cfsiae", module], input=addresses, capture_output=True, text=True,
                                     check=False).stdout.split("0x")[1:]
            for frame, answer in zip(frames, answers):
                lines = answer.splitlines()[1:]
                self.known[frame] = [(short_name(function), place.split(" ")[0]) for function, place in zip(lines[::2], lines[1::2])]

    def of(self, pair):
        self.learn([pair])
        named = [self.known[frame][-1] for frame in pair.frames if self.known.get(frame)]
        return " < ".join(f"{function} ({place})" for function, place in named) or " ".join(pair.frames)

    def passes(self, pair, function):
        """The way to the pair leads through `function`."""
        return any(name == function for frame in pair.frames for name, _ in self.known.get(frame, ()))
