#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks a built site: links, anchors, pictures, pages that show raw Markdown, and the search index.

  tests/docs/check_site.py SITE

Links to other sites are not followed. Pages of Doxygen (api/) have their links checked, but are not searched by the site.
"""

import html.parser
import json
import pathlib
import re
import sys
import urllib.parse

# Pages that a reader looks for, by a word in their title.
SOUGHT = {"ci/": "CI", "viewer/": "viewer", "trace-format/": "format", "ranks/": "ranks", "python-api/": "Python", "tutorials/": "Tutorials"}
# Doxygen 1.9 links to the summary of nested classes also where it leaves them out.
DOXYGEN_LEFT_OUT = "nested-classes"
RAW_MARKDOWN = re.compile(r"^\s*```|^\s*\|.*\|\s*$|\*\*\w[^*]*\*\*|\[[^\]]+\]\([^)]+\)", re.M)


class Page(html.parser.HTMLParser):
    """Links, anchors, and the text outside code."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.words, self.code = [], set(), [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := attributes.get(name)))
        if target := attributes.get("href") or attributes.get("src"):
            self.links.append(target)
        self.code += tag in ("code", "pre", "script", "style")

    def handle_endtag(self, tag):
        self.code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data):
        if not self.code:
            self.words.append(data)


def broken_links(site, pages):
    for path, page in pages.items():
        for link in page.links:
            target = urllib.parse.urlsplit(link)
            if target.scheme or target.netloc or (path.name == "404.html" and link.startswith("/")):
                continue
            to = (path.parent / urllib.parse.unquote(target.path)).resolve() if target.path else path
            if to.is_dir():
                to /= "index.html"
            where = path.relative_to(site)
            if not to.is_file():
                yield f"{where}: link to {link}: no such file"
            elif (target.fragment not in ("", DOXYGEN_LEFT_OUT) and to in pages
                  and urllib.parse.unquote(target.fragment) not in pages[to].anchors):
                yield f"{where}: link to {link}: no such anchor"


def search_breaches(site, pages):
    index = site / "search/search_index.json"
    if not index.is_file():
        yield f"there is no {index.relative_to(site)}"
        return
    found = {}
    for entry in json.loads(index.read_text(encoding="utf-8"))["docs"]:
        found.setdefault(entry["location"].partition("#")[0], []).append(entry["title"])
    for location, word in SOUGHT.items():
        if not any(word.lower() in title.lower() for title in found.get(location, [])):
            yield f"search does not find '{word}' on {location}: {found.get(location, 'no such page')}"
    for path in pages:
        location = path.relative_to(site).as_posix()[: -len("index.html")]
        if not location.startswith("api/") and path.name == "index.html" and location not in found:
            yield f"search does not know {location}"


def breaches(site):
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    if not (site / "index.html").resolve() in pages:
        yield f"{site} has no index.html: build the site (./dev site)"
        return
    yield from broken_links(site.resolve(), pages)
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        raw = None if where.parts[0] == "api" else RAW_MARKDOWN.search("".join(page.words))
        if raw:
            yield f"{where}: shows Markdown instead of what it means: {raw[0].strip()[:100]}"
    yield from search_breaches(site.resolve(), pages)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    site = pathlib.Path(arguments[0])
    found = list(breaches(site))
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages: links, anchors and search are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
