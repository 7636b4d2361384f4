# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# One function makes every library of the project, so that flags stand in one place.
#
#   streamscope_library(NAME [STATIC|SHARED|OBJECT] SOURCES ... [LINK ...] [PRIVATE_LINK ...])
#     target streamscope_NAME with alias streamscope::NAME; its folder's parent is on the include path, so that
#     includes read "trace/read/reader.h".

find_package(Threads REQUIRED)
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What was compiled in one clone serves all others: names below the source folder are made relative. A setting makes it
  # accept precompiled headers, which are checked by their content all the same.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

function(streamscope_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
    -Wno-missing-field-initializers $<$<BOOL:${STREAMSCOPE_WERROR}>:-Werror>)
  if(STREAMSCOPE_SANITIZE)
    # gcc 12 sees uninitialized members in instrumented code of its own library (std::regex, std::function).
    target_compile_options(${target} PRIVATE -fsanitize=${STREAMSCOPE_SANITIZE} -fno-omit-frame-pointer
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    if(STREAMSCOPE_SANITIZE MATCHES undefined)
      # What takes two thirds of the compilation and finds little: null pointers fault anyway, x86 reads unaligned.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,vptr,object-size -fno-sanitize-recover=undefined)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${STREAMSCOPE_SANITIZE})
  endif()
endfunction()

# streamscope_unite(TARGET SOURCES): sanitized builds, and STREAMSCOPE_UNITY, compile so many sources of a target at once, which
# takes a third of a library's time and half of a test's; so names that are local to a source are used once in its target.
function(streamscope_unite target sources)
  if(STREAMSCOPE_SANITIZE OR STREAMSCOPE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${sources})
    # Collecting garbage would take a tenth of the time and save little memory.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;SHELL:--param ggc-min-heapsize=2000000>")
  endif()
endfunction()

function(streamscope_library name)
  cmake_parse_arguments(arg "STATIC;SHARED;OBJECT" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  set(type STATIC)
  if(arg_SHARED)
    set(type SHARED)
  elseif(arg_OBJECT)
    set(type OBJECT)
  endif()
  add_library(streamscope_${name} ${type} ${arg_SOURCES})
  add_library(streamscope::${name} ALIAS streamscope_${name})
  set_target_properties(streamscope_${name} PROPERTIES EXPORT_NAME ${name})
  streamscope_flags(streamscope_${name})
  streamscope_unite(streamscope_${name} 16)
  target_include_directories(streamscope_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/profiler> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(streamscope_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
endfunction()

# streamscope_produces_doc(PAGE TOOL name SOURCE file LINK ... [ARGUMENT arg]): a program whose output is docs/PAGE.md;
# target update-docs writes it. streamscope_produced_doc() in tests/ checks it.
add_custom_target(update-docs)
function(streamscope_produces_doc page)
  cmake_parse_arguments(arg "" "TOOL;SOURCE;ARGUMENT" "LINK" ${ARGN})
  add_executable(${arg_TOOL} ${arg_SOURCE})
  if(STREAMSCOPE_TESTS STREQUAL "OFF")
    set_target_properties(${arg_TOOL} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  streamscope_flags(${arg_TOOL})
  target_include_directories(${arg_TOOL} PRIVATE ${PROJECT_SOURCE_DIR}/profiler)
  target_link_libraries(${arg_TOOL} PRIVATE ${arg_LINK})
  set_target_properties(${arg_TOOL} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_custom_target(update-docs-${page}
    COMMAND ${arg_TOOL} ${arg_ARGUMENT} > ${PROJECT_SOURCE_DIR}/docs/${page}.md VERBATIM)
  add_dependencies(update-docs update-docs-${page})
endfunction()
