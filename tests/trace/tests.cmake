# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(SQLite3 REQUIRED)
streamscope_test(trace LABELS unit LINK streamscope_test_support streamscope::trace streamscope::ring SQLite::SQLite3)
streamscope_golden(trace_test trace/schema_test.cpp)
streamscope_bench(trace LINK streamscope::trace SQLite::SQLite3)

streamscope_produced_doc(trace-format trace_format_doc)
