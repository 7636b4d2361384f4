#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Uses the sources by add_subdirectory.   sources.sh BUILD SOURCE
source "$(dirname "$0")/consume.sh" "$1" "$2"
# The writer is found beside the library or, as here, by the search path.
PATH=$1/bin:$PATH
# The project links the two libraries only; the writer is the one that was built.
export STREAMSCOPE_BIN=$bin/streamscope
# With the build's own flags and, seen from the folder that is built in, the same names, so that a compiler cache has seen it
# all.
shopt -s extglob
mkdir sources
ln -s "$source_folder"/!(build*) sources/
cd sources
flags=()
for name in CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS_RELWITHDEBINFO STREAMSCOPE_UNITY STREAMSCOPE_WERROR; do
  flags+=("-D$name=$(sed -n "s/^$name:[A-Z]*=//p" "$build/CMakeCache.txt")")
done
consume -DSTREAMSCOPE_SOURCE="$PWD" "${flags[@]}"
