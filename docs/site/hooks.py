# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""What MkDocs needs to know about this repository, whose pages are written to be read there as well.

Pages link to each other, to README.md and to sources by paths in the repository. A link to what the site does not have becomes
one to the repository; one to what the repository does not have is a warning, with which a strict build fails.
"""

import fnmatch
import logging
import os
import pathlib
import posixpath
import re

from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from mkdocs.structure.files import File
from pymdownx.slugs import slugify

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = pathlib.Path(os.environ["STREAMSCOPE_REFERENCE"])  # of libcoord, made before the site; its files lie in api/coord
SITE_ONLY = "docs/site/"
VIEWER = ROOT / "build-web/viewer.html"  # which ./dev web makes; without it the site lacks it
VIEWER_MARK = "<!-- site: the viewer -->"
VIEWER_TEXT = "**[Open a trace here](viewer.html)**: drop it on that page. It stays in your browser; the page cannot connect to anything."
FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")

log = logging.getLogger("mkdocs.hooks")


class Doctests(Preprocessor):
    """Puts the examples of docstrings into fences."""

    def run(self, lines):
        result, inside = [], False
        for line in lines:
            begins, ends = not inside and line.startswith(">>> "), inside and not line.strip()
            result += ["```pycon"] * begins + ["```"] * ends + [line]
            inside = (inside or begins) and not ends
        return result + ["```"] * inside


class ProjectMarkdown(Extension):
    """Two columns nest a block in a list, as GitHub reads it."""

    def extendMarkdown(self, md):
        md.tab_length = 2
        md.preprocessors.register(Doctests(md), "doctests", 40)  # before fences are read, at 25


def on_config(config):
    config["markdown_extensions"].append(ProjectMarkdown())
    config["mdx_configs"]["toc"]["slugify"] = slugify(case="lower")  # anchors as on GitHub
    return config


def on_files(files, config):
    def add(path, folder):
        files.append(File(path, str(folder), config["site_dir"], config["use_directory_urls"]))

    for file in list(files):
        if file.src_uri.startswith("site/"):
            files.remove(file)
    for page in sorted((ROOT / SITE_ONLY).glob("*.md")):
        add(page.name, page.parent)
    add("README.md", ROOT)
    add("site.css", ROOT / SITE_ONLY)
    if VIEWER.exists():
        add(VIEWER.name, VIEWER.parent)
    for file in sorted(REFERENCE.rglob("*")):
        if file.is_file():
            add(file.relative_to(REFERENCE).as_posix(), REFERENCE)
    pages = [file.src_uri for file in files.documentation_pages()]
    config["nav"] = expanded(config["nav"], pages, set(entries(config["nav"])))
    return files


def entries(nav):
    """Pages and patterns of a navigation."""
    for item in nav:
        value = next(iter(item.values())) if isinstance(item, dict) else item
        yield from entries(value) if isinstance(value, list) else [value]


def expanded(nav, pages, named):
    """The navigation with the pages that its patterns stand for. A pattern does not reach into folders below its own."""
    result = []
    for item in nav:
        if isinstance(item, dict):
            title, value = next(iter(item.items()))
            result.append({title: expanded(value, pages, named) if isinstance(value, list) else value})
        elif "*" in item:
            result += [page for page in sorted(pages) if page not in named and page.count("/") == item.count("/") and fnmatch.fnmatch(page, item)]
        else:
            result.append(item)
    return result


def repository_path(page):
    """Where a page of the site lies in the repository."""
    if page == "README.md":
        return page
    return (SITE_ONLY if (ROOT / SITE_ONLY / page).exists() else "docs/") + page


def site_path(path):
    """Where a file of the repository lies in the site, if it is there."""
    if path.startswith(SITE_ONLY):
        return path[len(SITE_ONLY):]
    return path[len("docs/"):] if path.startswith("docs/") else path


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri

    def site_link(match):
        target = match[1]
        if here != "README.md" and files.get_file_from_path(posixpath.normpath(posixpath.join(posixpath.dirname(here), target))):
            return target  # also files that only the site has
        path = posixpath.normpath(posixpath.join(posixpath.dirname(repository_path(here)), target))
        if not (ROOT / path).exists():
            log.warning("%s links to %s, which does not exist", repository_path(here), path)
            return target
        if files.get_file_from_path(site_path(path)):
            return posixpath.relpath(site_path(path), posixpath.dirname(here) or ".")
        return f"{config['repo_url']}/blob/main/{path}"

    lines, fenced = [], False
    for line in markdown.replace(VIEWER_MARK, VIEWER_TEXT if VIEWER.exists() else "").split("\n"):
        fenced ^= bool(FENCE.match(line))
        # Code is left alone, in fences and in a line.
        lines.append(line if fenced else "".join(part if part.startswith("`") else LINK.sub(site_link, part) for part in re.split(r"(`[^`]*`)", line)))
    return "\n".join(lines)
