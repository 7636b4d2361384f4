# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What reads files that others made, fed with what nobody made on purpose: `./dev fuzz`. Only in the preset "fuzz".
if(STREAMSCOPE_SANITIZE MATCHES fuzzer)
  foreach(target nsys kineto reader budget ring)
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
endif()
