# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What the analyses say of imported profiles; apart from tests/import, which therefore needs no analysis.
streamscope_test(imported LABELS unit LINK streamscope::import streamscope::analysis SQLite::SQLite3)
