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
# With the build's own flags and, seen from the folder that is compiled in, the same names, so that a compiler cache has seen it
# all: the sources lie in the folder above.
shopt -s extglob
mkdir consumer
ln -s "$source_folder"/!(build*) consumer/
flags=()
for name in CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS_RELWITHDEBINFO STREAMSCOPE_UNITY STREAMSCOPE_WERROR; do
  flags+=("-D$name=$(sed -n "s/^$name:[A-Z]*=//p" "$build/CMakeCache.txt")")
done
if command -v ccache >/dev/null; then
  cat >compile <<'END'
#!/usr/bin/env bash
[[ " $* " == *" -o streamscope/"* ]] || exec "$@"
cd "$CCACHE_BASEDIR/streamscope" && exec ccache "${@#streamscope/}"
END
  chmod +x compile
  export CCACHE_BASEDIR=$PWD/consumer CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
  flags+=("-DCMAKE_CXX_COMPILER_LAUNCHER=$PWD/compile")
fi
consume -DSTREAMSCOPE_SOURCE="$PWD/consumer" "${flags[@]}"
