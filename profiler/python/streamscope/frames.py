# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables as frames of pandas or polars, or as plain rows."""

from importlib.util import find_spec
from typing import Any, Callable, Dict, List, Sequence

from .error import Error

Row = Sequence[Any]


def _rows(columns: List[str], rows: Sequence[Row]) -> List[Dict[str, Any]]:
    return [dict(zip(columns, row)) for row in rows]


def _pandas(columns: List[str], rows: Sequence[Row]) -> Any:
    import pandas

    # The nullable types: an unknown value must not turn a column of 64-bit integers into floating point.
    frame = pandas.DataFrame([tuple(row) for row in rows], columns=columns, dtype=object)
    return frame.convert_dtypes()


def _polars(columns: List[str], rows: Sequence[Row]) -> Any:
    import polars

    return polars.DataFrame([tuple(row) for row in rows], schema=columns, orient="row", infer_schema_length=None)


_MAKERS: Dict[str, Callable[[List[str], Sequence[Row]], Any]] = {"pandas": _pandas, "polars": _polars, "rows": _rows}


def maker(kind: str) -> Callable[[List[str], Sequence[Row]], Any]:
    """Makes tables of this kind: pandas, polars, rows (a list of dicts), or auto: the first of these that is installed.

    >>> maker("rows")(["name", "count"], [("gemm", 16)])
    [{'name': 'gemm', 'count': 16}]
    """
    if kind == "auto":
        kind = next((name for name in ("pandas", "polars") if find_spec(name)), "rows")
    if kind not in _MAKERS:
        raise Error(f"unknown kind of tables '{kind}'", remedy="use auto, " + ", ".join(_MAKERS))
    return _MAKERS[kind]
