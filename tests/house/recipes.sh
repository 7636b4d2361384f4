#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The recipes of docs/extending.md hold: each patch in recipes/ adds one thing by its recipe.
#   recipes.sh SOURCE [--build]   that they apply and touch at most four files; with --build also that a copy of the tree with
#                                 all of them builds, and that each thing is there
set -euo pipefail
source=$(cd "$1" && pwd)
patches=("$source"/tests/house/recipes/*.patch)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

# The copy has only what the product is made of; tests are left out.
mkdir "$work/tree"
tar -C "$source" -cf - CMakeLists.txt CMakePresets.json LICENSE README.md cmake docs libcoord profiler viewer | tar -C "$work/tree" -xf -
cd "$work/tree"
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  files=$(grep -c '^diff --git' "$patch")
  ((files <= 4)) || fail "$name touches $files files: a recipe names at most four"
  patch -p1 --forward --silent <"$patch" || fail "$name no longer applies: bring tests/house/recipes/$name.patch up to date"
done
[[ ${2:-} == --build ]] || { echo "passed: ${#patches[@]} patches apply"; exit 0; }

cmake --preset demo >"$work/configure.txt" 2>&1 || { cat "$work/configure.txt"; exit 1; }
ninja -C build-demo libcoord/all profiler/all viewer/all >"$work/build.txt" 2>&1 || { tail -40 "$work/build.txt"; exit 1; }
bin=$work/tree/build-demo/bin trace=$source/traces/pipeline.sqlite
grep -q SS999 <<<"$("$bin/streamscope" detectors)" || fail "detectors does not list the detector"
"$bin/streamscope" check "$trace" --fail-on note >check.txt || true
grep -q "has ops" check.txt || fail "check does not report the finding of the detector"
grep -q "Example of a section" <<<"$("$bin/streamscope" report "$trace")" || fail "report lacks the section"
"$bin/streamscope" export "$trace" --to names -o names.txt && [[ -s names.txt ]] || fail "export has no format 'names'"
# Without the headers of CUDA there is no collector.
library=build-demo/lib/libstreamscope_inject.so
[[ ! -e $library ]] || grep -q cudaStreamGetPriority "$library" || fail "the collector does not trace the call"
if [[ -x $bin/streamscope-viewer ]]; then
  "$bin/streamscope" view "$trace" --panel example --screenshot picture.png >/dev/null || fail "the viewer lacks the panel"
fi
echo "passed: ${#patches[@]} recipes hold"
