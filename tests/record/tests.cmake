# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(record LABELS unit LINK streamscope::record)

# What the tests of the launcher record.
add_executable(recorded_program ${CMAKE_CURRENT_LIST_DIR}/recorded_program.cpp)
streamscope_flags(recorded_program)
target_include_directories(recorded_program PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(recorded_program PRIVATE streamscope::ring Threads::Threads)
add_dependencies(record_test recorded_program)
target_compile_definitions(record_test PRIVATE RECORDED_PROGRAM="$<TARGET_FILE:recorded_program>")

find_package(SQLite3 REQUIRED)
streamscope_bench(record LINK streamscope::record SQLite::SQLite3)
