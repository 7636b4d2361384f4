# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What tests of several parts build their inputs with.
add_library(streamscope_test_support STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/trace_builder.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/support/mistakes.cpp)
streamscope_flags(streamscope_test_support)
target_include_directories(streamscope_test_support PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(streamscope_test_support PUBLIC streamscope::trace)
