# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(record LABELS unit LINK streamscope::record)
if(STREAMSCOPE_LIBDW AND STREAMSCOPE_LIBELF AND STREAMSCOPE_LIBDW_INCLUDE_DIR)  # an oracle for names of functions
  target_include_directories(record_test SYSTEM PRIVATE ${STREAMSCOPE_LIBDW_INCLUDE_DIR})
  target_link_libraries(record_test PRIVATE ${STREAMSCOPE_LIBDW})
  target_compile_definitions(record_test PRIVATE STREAMSCOPE_HAVE_LIBDW=1)
endif()
target_sources(record_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/inlined_call.cpp)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/inlined_call.cpp PROPERTIES COMPILE_OPTIONS "-g2")

# What the tests of the launcher record.
add_executable(recorded_program ${CMAKE_CURRENT_LIST_DIR}/recorded_program.cpp)
streamscope_flags(recorded_program)
target_include_directories(recorded_program PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(recorded_program PRIVATE streamscope::ring Threads::Threads)
add_dependencies(record_test recorded_program)
target_compile_definitions(record_test PRIVATE RECORDED_PROGRAM="$<TARGET_FILE:recorded_program>")

find_package(SQLite3 REQUIRED)
streamscope_bench(record LINK streamscope::record SQLite::SQLite3)
