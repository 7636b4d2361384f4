#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the documentation as a site into BUILD/site and checks it.   build.sh BUILD
# Any mistake in a page, in a comment of libcoord's headers, or in a link fails it.
set -euo pipefail
mkdir -p "$1"
build=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for program in doxygen mkdocs; do
  command -v $program >/dev/null || { echo "SKIPPED: $program is not installed; ./dev site installs it"; exit 77; }
done

# Doxygen first: the pages link to what it makes.
export STREAMSCOPE_REFERENCE=$build/doxygen
rm -rf "$STREAMSCOPE_REFERENCE"
mkdir -p "$STREAMSCOPE_REFERENCE/api"
{ cat docs/site/Doxyfile; echo "OUTPUT_DIRECTORY = $STREAMSCOPE_REFERENCE"; } | doxygen -
mkdocs build --quiet --strict --clean --config-file docs/site/mkdocs.yml --site-dir "$build/site"
python3 tests/docs/check_site.py "$build/site"
