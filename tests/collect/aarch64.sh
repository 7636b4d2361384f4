#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The collector compiles for aarch64. Exit code 77 if there is no compiler for it.
#   [STREAMSCOPE_AARCH64=all] tests/collect/aarch64.sh REPOSITORY GENERATED CUDA_INCLUDE
set -euo pipefail

compiler=${STREAMSCOPE_AARCH64_COMPILER:-aarch64-linux-gnu-g++}
command -v "$compiler" >/dev/null || { echo "SKIPPED: no $compiler"; exit 77; }
repository=$1 generated=$2 cuda=$3
cd "$repository"
# Without `all` (./dev nightly) those that depend on the processor, or on declarations that do.
sources=(profiler/collect/interposed/{stubs,lookups,interposed_calls,wrappers}.cpp profiler/collect/process/symbols.cpp profiler/ring/ring.cpp)
[[ ${STREAMSCOPE_AARCH64:-} != all ]] || mapfile -t sources < <(git ls-files 'profiler/collect/*.cpp' 'profiler/ring/*.cpp')
failed=0
object=$(mktemp)
trap 'rm -f "$object"' EXIT
cache=()
! command -v ccache >/dev/null || cache=(ccache)
for source in "${sources[@]}"; do
  "${cache[@]}" "$compiler" -std=c++20 -Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-deprecated-declarations -fPIC -O1 \
    -DSTREAMSCOPE_WITH_CUPTI -Iprofiler -Ilibcoord/include -I"$generated" -isystem "$cuda" -c "$source" -o "$object" ||
    { echo "FAIL $source"; failed=1; }
done
echo "${#sources[@]} sources"
exit $failed
