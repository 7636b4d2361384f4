# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What tests of several parts build their inputs with.
add_library(streamscope_test_support STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/trace_builder.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/support/mistakes.cpp)
streamscope_flags(streamscope_test_support)
target_include_directories(streamscope_test_support PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(streamscope_test_support PUBLIC streamscope::trace)

if(TARGET streamscope::otf2)
  add_library(streamscope_otf2_archive STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/otf2_archive.cpp)
  streamscope_flags(streamscope_otf2_archive)
  target_include_directories(streamscope_otf2_archive PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(streamscope_otf2_archive INTERFACE STREAMSCOPE_OTF2=1)
  target_link_libraries(streamscope_otf2_archive PUBLIC streamscope::otf2)
endif()
