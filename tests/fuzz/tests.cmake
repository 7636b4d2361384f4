# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Feeds random input to everything that reads foreign files: `./dev fuzz`. Only in the preset "fuzz".
if(STREAMSCOPE_SANITIZE MATCHES fuzzer)
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(SQLite3 REQUIRED)
  foreach(target nsys kineto reader budget ring summary hang_note nccl_dump trace)
    add_executable(${target}_fuzz ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${target}_fuzz.cpp)
    streamscope_flags(${target}_fuzz)
    target_include_directories(${target}_fuzz PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${target}_fuzz PRIVATE streamscope::trace SQLite::SQLite3)
    target_link_options(${target}_fuzz PRIVATE -fsanitize=fuzzer)
    set_target_properties(${target}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/fuzz)
  endforeach()
  target_link_libraries(nsys_fuzz PRIVATE streamscope::import)
  target_link_libraries(kineto_fuzz PRIVATE streamscope::import)
  target_link_libraries(budget_fuzz PRIVATE streamscope::report)
  target_link_libraries(ring_fuzz PRIVATE streamscope::record)
  target_link_libraries(summary_fuzz PRIVATE streamscope::job)
  target_link_libraries(hang_note_fuzz PRIVATE streamscope::job)
  target_link_libraries(nccl_dump_fuzz PRIVATE streamscope::job)

  # What is made of a trace, the viewer's model included: that needs no display, nor what draws.
  add_library(streamscope_trace_uses STATIC ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/use_trace.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/trace_mutations.cpp ${STREAMSCOPE_MODEL_SOURCES})
  streamscope_flags(streamscope_trace_uses)
  target_include_directories(streamscope_trace_uses PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/viewer)
  target_compile_definitions(streamscope_trace_uses PRIVATE STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
  target_link_libraries(streamscope_trace_uses PUBLIC streamscope::report streamscope::analysis streamscope::trace
    SQLite::SQLite3 nlohmann_json::nlohmann_json fmt::fmt)
  # Inputs are made of rows, not of the numbers that these compare, and noting every comparison takes a fifth of the time.
  foreach(target streamscope_trace streamscope_analysis streamscope_report streamscope_trace_uses trace_fuzz)
    target_compile_options(${target} PRIVATE -fno-sanitize-coverage=trace-cmp)
  endforeach()
  target_link_libraries(trace_fuzz PRIVATE streamscope_trace_uses)
  target_link_libraries(ring_fuzz PRIVATE streamscope_trace_uses)
endif()
