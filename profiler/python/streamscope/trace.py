# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""A trace and its tables."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import urllib.parse
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from . import frames, program
from .error import Error
from .expectations import Expectations


class Trace(Expectations):
    """A recorded trace. What it contains is read when it is asked for.

    The tables are frames of pandas or polars if one of these is installed, otherwise lists of dicts. docs/trace-format.md
    describes every table and view. A notebook shows a trace as its timeline.
    """

    def __init__(self, path: program.Path, *, iteration: str = "auto", tables: str = "auto") -> None:
        super().__init__(path, iteration)
        self._tables = tables

    @property
    def meta(self) -> Dict[str, Any]:
        """Facts about the trace as a whole.

        >>> trace.meta["tier"]
        'times'
        """
        return dict(self._select("SELECT key, value FROM meta")[1])

    @property
    def ops(self) -> Any:
        """Kernels, copies and other work of devices, with names, streams and times.

        >>> sorted({op["name"] for op in trace.ops})
        ['memcpy DtoH', 'memcpy HtoD', 'sum']
        """
        return self.table("v_op")

    @property
    def calls(self) -> Any:
        """The traced CUDA calls."""
        return self.table("v_api_call")

    @property
    def waits(self) -> Any:
        """Why ops started late: one row per op and cause.

        >>> sorted({wait["cause"] for wait in trace.waits})
        ['event_wait', 'launch', 'start_latency']
        """
        return self.table("v_wait")

    @property
    def edges(self) -> Any:
        """Which op had to wait for which."""
        return self.table("v_edge")

    @property
    def iterations(self) -> Any:
        """The iterations that the recorder found by itself; those of `iteration` are in `diagnosis`."""
        return self.table("iteration")

    @property
    def findings(self) -> Any:
        """What the detectors found.

        >>> [finding["detector"] for finding in trace.findings]
        ['stream-race']
        """
        return self.table("finding")

    @property
    def overlap(self) -> Any:
        """Per device: time of kernels, of copies, and of both at once."""
        return self.table("v_overlap")

    @property
    def critical_path(self) -> Any:
        """The steps that determined how long the run took."""
        return self.table("v_critical_path")

    @property
    def streams(self) -> Any:
        """The CUDA streams."""
        return self.table("stream")

    @property
    def ranges(self) -> Any:
        """NVTX ranges, and those of `step`."""
        return self.table("range")

    @property
    def losses(self) -> Any:
        """What is missing from the trace."""
        return self.table("loss")

    def table(self, name: str) -> Any:
        """A table or view by its name in docs/trace-format.md. Columns that refer to a text have the text.

        >>> [stream["name"] for stream in trace.table("stream")]
        ['legacy default', 'copies', 'math']
        """
        with self._connected() as connection:
            self._require(connection, name)
            texts = {row[3] for row in connection.execute(f"PRAGMA foreign_key_list({name})") if row[2] == "string"}
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        chosen = ", ".join(
            f"(SELECT value FROM string WHERE id = it.{column}) AS {column[: -len('_id')]}" if column in texts else f"it.{column}"
            for column in columns
        )
        return self.query(f"SELECT {chosen} FROM {name} AS it")

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The answer to an SQL query.

        >>> trace.query("SELECT count(*) AS kernels FROM v_op WHERE kind = ?", ["kernel"])
        [{'kernels': 16}]
        """
        columns, rows = self._select(sql, parameters)
        return frames.maker(self._tables)(columns, rows)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        if not os.path.isfile(self.path):
            folder = os.path.isdir(self.path)
            raise Error(
                "is a folder" if folder else "there is no such trace",
                where=self.path,
                remedy="open the trace of one rank" if folder else "check the path; the trace of a block is there after the block",
            )
        connection = sqlite3.connect(f"file:{urllib.parse.quote(os.path.abspath(self.path))}?mode=ro", uri=True)
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            unreadable = "file is not a database" in str(error)
            raise Error(str(error), where=self.path, remedy="convert profiles of other tools with streamscope import" if unreadable else "") from error
        finally:
            connection.close()

    def _select(self, sql: str, parameters: Sequence[Any] = ()) -> Tuple[List[str], List[Any]]:
        with self._connected() as connection:
            cursor = connection.execute(sql, parameters)
            if cursor.description is None:
                raise Error("this statement returns no rows", where=self.path, remedy="use SELECT")
            return [column[0] for column in cursor.description], cursor.fetchall()

    def _require(self, connection: sqlite3.Connection, name: str) -> None:
        """Raises Error unless there is such a table or view, and the derived tables that it reads were computed."""
        schema = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"))
        if name not in schema:
            raise Error(f"there is no table '{name}'", where=self.path, remedy="docs/trace-format.md lists them")
        derived = [table for table, sql in schema.items() if "-- Derived." in sql]
        reads_derived = name in derived or re.search(rf"\b(FROM|JOIN) ({'|'.join(derived)})\b", schema[name])
        if reads_derived and not connection.execute("SELECT 1 FROM meta WHERE key = 'analysis_version'").fetchone():
            raise Error(f"'{name}' was not computed yet", where=self.path, remedy="run: streamscope analyze TRACE, once the recording has ended")


def open(path: program.Path, *, iteration: str = "auto", tables: str = "auto") -> Trace:
    """Opens a trace.

    `iteration` is what one iteration is, as for `streamscope report --iteration`, for example "nvtx:step". `tables` is the kind of
    tables: pandas, polars, rows, or auto: the first of these that is installed.

    >>> open("race.sqlite", tables="rows")
    Trace('race.sqlite')
    """
    frames.maker(tables)
    trace = Trace(path, iteration=iteration, tables=tables)
    if "format_version" not in trace.meta:
        raise Error("is not a StreamScope trace", where=trace.path)
    return trace
