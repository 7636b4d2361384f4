# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Real CUDA programs to record: NAME in bin/apps with the static CUDA runtime, NAME_shared with the shared one and,
# where the meaning of stream 0 matters, NAME_ptds built for per-thread default streams. tests/gpu/run records them
# on a machine with a GPU; ctest only runs each once (label gpu), which is a visible skip without one.

function(streamscope_app name)
  cmake_parse_arguments(arg "NO_TEST" "SOURCE" "LINK;ARGUMENTS" ${ARGN})
  add_executable(app_${name} ${arg_SOURCE})
  set_target_properties(app_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/apps
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
  target_compile_options(app_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>)
  target_link_options(app_${name} PRIVATE -Wl,--compress-debug-sections=zlib)  # they travel to other machines, and findings name lines
  target_link_libraries(app_${name} PRIVATE streamscope::cuda_headers Threads::Threads ${CMAKE_DL_LIBS} ${arg_LINK})
  if(NOT arg_NO_TEST)
    add_test(NAME apps.${name} COMMAND app_${name} ${arg_ARGUMENTS})
    set_tests_properties(apps.${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 60)
  endif()
endfunction()

if(STREAMSCOPE_HAVE_CUDA)
  streamscope_app(driver_api SOURCE apps/driver_api.cpp)
  streamscope_app(late_dlopen SOURCE apps/late_dlopen.cpp)
  streamscope_app(forker SOURCE apps/forker.cpp)
  find_package(SQLite3 QUIET)
  if(SQLite3_FOUND)
    streamscope_app(own_sqlite SOURCE apps/own_sqlite.cpp LINK SQLite::SQLite3)
  endif()
endif()
streamscope_app(no_cuda SOURCE apps/no_cuda.cpp)
if(TARGET streamscope_coord)
  streamscope_app(hangs SOURCE apps/hangs.cpp LINK streamscope::coord
    ARGUMENTS crossed_signals --repaired --device cuda)
  streamscope_app(coord_hang SOURCE apps/hang/coord.cpp LINK streamscope::coord NO_TEST)
  streamscope_app(faults SOURCE apps/faults.cpp LINK streamscope::coord ARGUMENTS device_syncs --device cuda)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  streamscope_app(clock_probe SOURCE apps/clock_probe.cpp)
endif()
add_library(app_probe_inject MODULE apps/probe_inject.cpp)
set_target_properties(app_probe_inject PROPERTIES PREFIX "" OUTPUT_NAME probe_inject CXX_STANDARD 20
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/apps CXX_VISIBILITY_PRESET hidden)
target_link_libraries(app_probe_inject PRIVATE ${CMAKE_DL_LIBS})

set(CMAKE_CUDA_COMPILER "")
if(STREAMSCOPE_NVCC)
  include(CheckLanguage)
  unset(CMAKE_CUDA_COMPILER)
  set(ENV{CUDACXX} ${STREAMSCOPE_NVCC})
  check_language(CUDA)  # an nvcc that rejects the host compiler must not stop the build
endif()
if(CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # one compilation for all: PTX for any GPU, machine code for Hopper
  if(CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_FLAGS_RELWITHDEBINFO "-O0 -g")  # of the host's part; what is measured lies in the driver
  find_library(STREAMSCOPE_CUDART_SHARED cudart HINTS ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES} NO_DEFAULT_PATH)

  # streamscope_cuda_app(NAME [PTDS] [NO_TEST] [LINK ...] [ARGUMENTS ...]): apps/NAME.cu, compiled once for both runtimes.
  function(streamscope_cuda_app name)
    cmake_parse_arguments(arg "PTDS;NO_TEST" "" "LINK;ARGUMENTS" ${ARGN})
    set(options LINK ${arg_LINK} ARGUMENTS ${arg_ARGUMENTS})
    if(arg_NO_TEST)
      list(PREPEND options NO_TEST)
    endif()
    set(variants "")
    list(APPEND variants ${name})
    if(arg_PTDS)
      list(APPEND variants ${name}_ptds)
    endif()
    foreach(variant ${variants})
      add_library(app_${variant}_object OBJECT apps/${name}.cu)
      target_link_libraries(app_${variant}_object PRIVATE streamscope::cuda_headers ${arg_LINK})
      target_compile_options(app_${variant}_object PRIVATE -std=c++20 --generate-code=arch=compute_75,code=[compute_75,sm_90]
        -Xcompiler=-Wall,-Wextra)
      if(NOT variant STREQUAL name)
        target_compile_options(app_${variant}_object PRIVATE --default-stream=per-thread)
      endif()
      streamscope_app(${variant} SOURCE $<TARGET_OBJECTS:app_${variant}_object> ${options})
      set_target_properties(app_${variant} PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static)
    endforeach()
    if(STREAMSCOPE_CUDART_SHARED)
      streamscope_app(${name}_shared SOURCE $<TARGET_OBJECTS:app_${name}_object> ${options})
      set_target_properties(app_${name}_shared PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Shared)
    endif()
  endfunction()

  foreach(name alloc_async cost_loop cupti_probe graph_replay host_function legacy_sync memops never_recorded pairing_race
               pairing_stress ranges)
    streamscope_cuda_app(${name})
  endforeach()
  streamscope_cuda_app(many_threads ARGUMENTS --launches 20000)
  streamscope_cuda_app(spin ARGUMENTS --seconds 1)
  streamscope_cuda_app(late_graph NO_TEST)
  streamscope_cuda_app(crash NO_TEST)
  target_include_directories(app_crash_object PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  if(TARGET streamscope_coord)
    streamscope_cuda_app(races LINK streamscope::coord)
    streamscope_cuda_app(kernel_races ARGUMENTS plain_pointers --fixed)
    streamscope_cuda_app(random_accesses ARGUMENTS 3 1)
    streamscope_cuda_app(big_copy)
    streamscope_cuda_app(ideas LINK streamscope::coord ARGUMENTS --quick)
  endif()
  if(TARGET streamscope::collect)  # these two leave a trace where they run, so only tests/gpu/run runs them
    streamscope_cuda_app(linked NO_TEST LINK streamscope::collect)
  endif()
  add_library(app_hang_object OBJECT apps/hang/device.cu apps/hang/host.cu apps/hang/late.cu apps/hang/memory.cu)
  target_compile_options(app_hang_object PRIVATE -std=c++20 --generate-code=arch=compute_75,code=[compute_75,sm_90])
  streamscope_app(hang SOURCE $<TARGET_OBJECTS:app_hang_object> NO_TEST)
  set_target_properties(app_hang PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static
    LINK_OPTIONS "")  # not stripped: their functions are to be named in stacks
  if(TARGET streamscope_coord)  # they measure; ctest only tries them out
    foreach(name task_queue_balance task_queue_dag task_queue_rate task_queue_stress)
      add_library(app_${name}_object OBJECT apps/${name}.cu)
      target_link_libraries(app_${name}_object PRIVATE streamscope::cuda_headers streamscope::coord)
      target_compile_options(app_${name}_object PRIVATE -std=c++20 --generate-code=arch=compute_75,code=[compute_75,sm_90]
        -Xcompiler=-Wall,-Wextra)
      streamscope_app(${name} SOURCE $<TARGET_OBJECTS:app_${name}_object> LINK streamscope::coord ARGUMENTS --quick)
      set_target_properties(app_${name} PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static)
    endforeach()
  endif()
  add_library(app_collectives_object OBJECT apps/hang/collectives.cu)
  target_compile_options(app_collectives_object PRIVATE -std=c++20 --generate-code=arch=compute_75,code=[compute_75,sm_90])
  streamscope_app(collectives SOURCE $<TARGET_OBJECTS:app_collectives_object>)
  set_target_properties(app_collectives PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static)
  foreach(name default_streams forkjoin pipeline)
    streamscope_cuda_app(${name} PTDS)
  endforeach()
endif()
