# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(SQLite3 REQUIRED)
streamscope_test(trace LABELS unit LINK streamscope_test_support streamscope::trace streamscope::ring SQLite::SQLite3)
streamscope_bench(trace LINK streamscope::trace SQLite::SQLite3)

add_test(NAME docs.trace_format_is_current
  COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:trace_format_doc> -DDOC=${PROJECT_SOURCE_DIR}/docs/trace-format.md
          -P ${CMAKE_CURRENT_SOURCE_DIR}/trace/check_format_doc.cmake)
set_tests_properties(docs.trace_format_is_current PROPERTIES LABELS unit)
