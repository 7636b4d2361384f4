# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Ranges of the calling thread, by which the analysis finds iterations."""

import threading
from types import TracebackType
from typing import Iterable, Iterator, List, Optional, Type, TypeVar

from . import collector

Item = TypeVar("Item")


class _OpenRanges(threading.local):
    def __init__(self) -> None:
        self.stack: List["Range"] = []


_open = _OpenRanges()


class Range:
    """A range that is open from its creation until `end`, or until the end of its `with` block."""

    def __init__(self, name: str) -> None:
        self.is_block = False
        _open.stack.append(self)
        collector.push_range(name)

    def end(self) -> None:
        """Ends the range, and those that were opened inside it."""
        while self in _open.stack:
            _open.stack.pop()
            collector.pop_range()

    def __enter__(self) -> "Range":
        self.is_block = True
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], where: Optional[TracebackType]) -> None:
        self.end()


def step(name: str = "step") -> Range:
    """Begins an iteration: a range that the next call ends, or the end of a `with` block. Does nothing in a process that is not recorded.

    >>> for batch in range(3):
    ...     _ = step()  # the first line of a loop's body

    >>> with step():
    ...     pass  # one iteration

    Call it with the same name in each iteration, and analyze with iteration="nvtx:step" to be sure that it is found.
    """
    last = _open.stack[-1] if _open.stack else None
    if isinstance(last, _Step) and not last.is_block:
        last.end()
    return _Step(name)


def steps(items: Iterable[Item], name: str = "step") -> Iterator[Item]:
    """The items, each one an iteration: from when the loop gets it to when it asks for the next.

    >>> list(steps("abc"))
    ['a', 'b', 'c']
    """
    for item in items:
        with step(name):
            yield item


class _Step(Range):
    """A range that was opened by `step`."""
