# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
streamscope_test(cli LABELS unit golden
  LINK streamscope::trace streamscope_test_support nlohmann_json::nlohmann_json SQLite::SQLite3)
target_compile_definitions(cli_test PRIVATE
  STREAMSCOPE_PROGRAM="$<TARGET_FILE:streamscope>" STREAMSCOPE_VERSION="${PROJECT_VERSION}"
  STREAMSCOPE_DOCS="${PROJECT_SOURCE_DIR}/docs")
add_dependencies(cli_test streamscope streamscope_collect example_pipeline example_deadlock)
streamscope_golden(cli_test cli/commands_test.cpp)

streamscope_bench(commands LINK streamscope_test_support streamscope::analysis streamscope::trace)
target_compile_definitions(commands_bench PRIVATE STREAMSCOPE_PROGRAM="$<TARGET_FILE:streamscope>")
add_dependencies(commands_bench streamscope)
