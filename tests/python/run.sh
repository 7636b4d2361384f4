#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# Runs tests of the Python package against a build, with the system's Python, whose packages `./dev` installs.
#   run.sh BUILD FILE...
set -euo pipefail
build=$1
shift
python=/usr/bin/python3
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../profiler/python" && pwd)

"$python" -c 'import pytest' 2>/dev/null || { echo "skipped: python3-pytest is not installed"; exit 77; }
unset "${!STREAMSCOPE_@}"
export STREAMSCOPE_BUILD=$build STREAMSCOPE_BIN=$build/bin/streamscope
export STREAMSCOPE_SIMULATED_STEPS=$build/bin/tests/libsimulated_steps.so
export PYTHONPATH=$source PYTHONDONTWRITEBYTECODE=1
exec "$python" -m pytest -q -rs -p no:cacheprovider "$@"
