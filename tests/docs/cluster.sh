#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
#
# The commands of the documentation for jobs, on a scheduler of one node.
# shellcheck disable=SC2154  # build and work, from lib.sh
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$tests/e2e/lib.sh" "$1"
source "$tests/e2e/slurm_cluster.sh"
start_slurm
TMPDIR=$work "$tests/docs/run.py" --build "$build" --have cluster "$tests/../docs/ranks.md"
