# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a trace, in each of their kinds, and what is wrong with other files."""

import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

import streamscope as package
from conftest import BUILD, recording_in_progress
from streamscope import program


def test_tables_are_pandas_frames_where_pandas_is_installed(race_file):
    pytest.importorskip("pandas", reason="python3-pandas is not installed")
    trace = package.open(race_file)
    assert trace.ops.groupby("kind").size().to_dict() == {"kernel": 16, "memcpy": 17}
    assert str(trace.edges["event_wait"].dtype) == "Int64", "ids stay integers although some are unknown"
    assert trace.iterations["steady"].sum() == 15
    assert list(trace.overlap["device"]) == [0]


def test_tables_are_polars_frames_on_request(race_file):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    trace = package.open(race_file, tables="polars")
    assert isinstance(trace.ops, polars.DataFrame)
    assert trace.edges["event_wait"].dtype == polars.Int64
    assert trace.iterations["steady"].sum() == 15


def test_without_either_they_are_plain_rows(race_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert package.open(race_file).streams[1]["name"] == "copies"


def test_every_table_and_view_can_be_read(race):
    names = [row["name"] for row in race.query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    assert "v_op" in names and "finding" in names
    for name in names:
        race.table(name)


def test_properties_are_the_tables_they_are_named_after(race):
    assert len(race.calls) == race.query("SELECT count(*) AS n FROM v_api_call")[0]["n"]
    assert race.critical_path[-1]["op"] == race.ops[-1]["id"]
    assert race.ranges == [] and race.losses == []


def test_a_table_that_was_not_computed_is_an_error_and_the_others_are_read():
    with recording_in_progress("live.sqlite"):
        trace = package.open("live.sqlite", tables="rows")
        assert trace.ops
        for name in ("findings", "waits", "edges", "iterations", "critical_path"):
            with pytest.raises(package.Error, match="was not computed yet; run: streamscope analyze"):
                getattr(trace, name)
    assert package.open("live.sqlite", tables="rows").edges


@pytest.mark.parametrize(
    "path, message",
    [
        ("missing.sqlite", "missing.sqlite: there is no such trace; check the path"),
        (".", ".: is a folder; open the trace of one rank"),
        ("text.sqlite", "text.sqlite: file is not a database; convert profiles of other tools with streamscope import"),
        ("other.sqlite", "other.sqlite: no such table: meta"),
    ],
)
def test_what_is_no_trace_is_an_error(work, path, message):
    (work / "text.sqlite").write_text("no database")
    other = sqlite3.connect("other.sqlite")
    other.execute("CREATE TABLE other (id)")
    other.close()
    with pytest.raises(package.Error) as error:
        package.open(path)
    assert str(error.value).startswith(message)


def test_mistakes_of_queries_are_errors(race):
    for sql, message in [("SELECT missing", "no such column"), ("DROP TABLE op", "readonly"), ("BEGIN", "returns no rows")]:
        with pytest.raises(package.Error, match=message):
            race.query(sql)
    with pytest.raises(package.Error, match="there is no table 'nothing'"):
        race.table("nothing")
    with pytest.raises(package.Error, match="unknown kind of tables 'excel'; use auto, pandas, polars, rows"):
        package.open(race.path, tables="excel")


def test_a_file_name_may_have_any_character(race_file, work):
    shutil.copy(race_file, work / "a b?c#d%20.sqlite")
    assert package.open("a b?c#d%20.sqlite", tables="rows").ops


def test_mistakes_that_the_program_notices_are_errors(race):
    with pytest.raises(package.Error, match="streamscope check: --assert overlap.*there is no assertion"):
        race.assert_holds("overlap()")


def test_without_the_program_the_remedy_is_named(race, monkeypatch):
    monkeypatch.setenv("STREAMSCOPE_BIN", "/nowhere/streamscope")
    with pytest.raises(package.Error, match="/nowhere/streamscope: No such file or directory; name the program in STREAMSCOPE_BIN"):
        race.report()
    monkeypatch.delenv("STREAMSCOPE_BIN")
    monkeypatch.setattr("sys.argv", ["-c"])
    monkeypatch.setenv("PATH", f"/nowhere:{BUILD / 'bin'}")
    assert program.find() == str(BUILD / "bin/streamscope")
    monkeypatch.setattr("sys.argv", [str(BUILD / "bin/streamscope")])  # a command of that name that looks for the program
    with pytest.raises(package.Error, match="program not found; install the wheel"):
        race.report()


def test_a_notebook_shows_the_timeline(race):
    shown = race._repr_html_()
    assert shown.startswith("<iframe sandbox=") and "&lt;svg id=&quot;timeline&quot;" in shown


# The headings that a browser shows.
SHOWN = """<script>addEventListener("load", () => {
  document.title = [...document.querySelectorAll("h1, h2")].filter(heading => heading.offsetHeight > 0).map(heading => heading.textContent).join("|");
});</script></body>"""


def headings(page, file):
    file.write_text(page.html.replace("</body>", SHOWN))
    chromium = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", file.as_uri()]
    dom = subprocess.run(chromium, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60).stdout
    return re.search("<title>(.*?)</title>", dom)[1].split("|")


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_the_timeline_is_shown_alone(race, tmp_path):
    assert headings(race.timeline(), tmp_path / "timeline.html") == ["Timeline"]
    assert len(headings(race.page(), tmp_path / "page.html")) > 5
