# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The one exception of this package."""


class Error(Exception):
    """Something went wrong: what, where, and what to do about it.

    >>> raise Error("no such trace", where="run.sqlite", remedy="check the path")
    Traceback (most recent call last):
      ...
    streamscope.error.Error: run.sqlite: no such trace; check the path
    """

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__((f"{where}: " if where else "") + what + (f"; {remedy}" if remedy else ""))
        self.what = what
        self.where = where
        self.remedy = remedy
