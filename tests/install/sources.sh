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
consume -DSTREAMSCOPE_SOURCE="$source_folder"
