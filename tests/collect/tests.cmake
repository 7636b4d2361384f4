# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

set(collect ${CMAKE_CURRENT_SOURCE_DIR}/collect)
add_test(NAME collect.handle_calls_are_listed
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${collect}/check_handle_calls.cmake)
set_tests_properties(collect.handle_calls_are_listed PROPERTIES LABELS unit)
if(STREAMSCOPE_HAVE_CUDA)
  add_test(NAME collect.functions_with_handles_are_traced
    COMMAND ${Python3_EXECUTABLE} ${collect}/check_wrapped.py ${PROJECT_SOURCE_DIR} ${STREAMSCOPE_CUDA_INCLUDE_DIR})
  set_tests_properties(collect.functions_with_handles_are_traced PROPERTIES LABELS unit)
  if(NOT STREAMSCOPE_SANITIZE)
    add_test(NAME collect.compiles_for_aarch64
      COMMAND ${collect}/aarch64.sh ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/profiler/collect ${STREAMSCOPE_CUDA_INCLUDE_DIR})
    set_tests_properties(collect.compiles_for_aarch64 PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 1200)
  endif()
  # Stand-ins for the driver and for CUPTI, in a separate folder that no other program searches.
  set(fake_folder ${CMAKE_BINARY_DIR}/tests/fake)
  function(collect_fake target soname)
    add_library(${target} SHARED ${ARGN})
    streamscope_flags(${target})
    target_link_libraries(${target} PRIVATE streamscope::cuda_headers)
    set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname} NO_SONAME ON
      LIBRARY_OUTPUT_DIRECTORY ${fake_folder})
    target_link_options(${target} PRIVATE -Wl,-soname,${soname})
  endfunction()
  set(call_table ${CMAKE_BINARY_DIR}/profiler/collect)
  collect_fake(fake_cuda libcuda.so.1 ${collect}/fake/fake_cuda.cpp ${collect}/fake/fake_driver.cpp)
  target_include_directories(fake_cuda PRIVATE ${call_table})
  add_dependencies(fake_cuda streamscope_collect)
  # Versions, so that dlvsym finds the functions too.
  file(WRITE ${fake_folder}/versions.map "FAKE { *; };\n")
  target_link_options(fake_cuda PRIVATE -Wl,--version-script,${fake_folder}/versions.map)
  collect_fake(fake_cupti libcupti.so.13 ${collect}/fake/fake_cupti.cpp)
  target_link_libraries(fake_cupti PRIVATE fake_cuda)

  collect_fake(fake_injection libcuda-injection.so ${collect}/fake/fake_injection.cpp)
  target_link_libraries(fake_injection PRIVATE ${CMAKE_DL_LIBS})

  collect_fake(fake_cudart libcudart.so.13 ${collect}/fake/fake_runtime.cpp)
  target_include_directories(fake_cudart PRIVATE ${call_table})
  target_link_libraries(fake_cudart PRIVATE ${CMAKE_DL_LIBS})
  add_dependencies(fake_cudart streamscope_collect)

  # The observed program, once to be preloaded into and once linked with the library.
  file(GLOB scenarios CONFIGURE_DEPENDS ${collect}/*_scenarios.cpp)
  add_library(collect_scenarios OBJECT ${collect}/child.cpp ${scenarios})
  streamscope_flags(collect_scenarios)
  target_include_directories(collect_scenarios PRIVATE ${PROJECT_SOURCE_DIR}/profiler ${PROJECT_SOURCE_DIR}/libcoord/include
    ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(collect_scenarios PRIVATE streamscope::cuda_headers)
  function(collect_program target)
    add_executable(${target} $<TARGET_OBJECTS:collect_scenarios>)
    streamscope_flags(${target})
    target_link_libraries(${target} PRIVATE ${ARGN} fake_cuda fake_cupti Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  endfunction()
  collect_program(collect_child)
  collect_program(collect_linked_child streamscope::collect)
  add_executable(collect_plain_child ${collect}/plain_child.cpp)
  streamscope_flags(collect_plain_child)
  target_link_libraries(collect_plain_child PRIVATE streamscope::cuda_headers fake_cuda)
  set_target_properties(collect_plain_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)

  add_executable(collect_interposed_child ${collect}/interposed_child.cpp)
  streamscope_flags(collect_interposed_child)
  target_include_directories(collect_interposed_child PRIVATE ${call_table} ${PROJECT_SOURCE_DIR}/profiler)
  target_link_libraries(collect_interposed_child PRIVATE streamscope::cuda_headers fake_cuda Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(collect_interposed_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)

  add_executable(collect_runtime_child ${collect}/runtime_child.cpp)
  streamscope_flags(collect_runtime_child)
  target_include_directories(collect_runtime_child PRIVATE ${call_table})
  target_link_libraries(collect_runtime_child PRIVATE streamscope::cuda_headers fake_cudart fake_cuda)
  set_target_properties(collect_runtime_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  add_executable(collect_driverless_child ${collect}/driverless_child.cpp)
  streamscope_flags(collect_driverless_child)
  target_link_libraries(collect_driverless_child PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(collect_driverless_child PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)

  # Unusual programs (collect/programs/), recorded by preloaded libraries.
  function(collect_unusual_program target)
    add_executable(${target} ${ARGN})
    streamscope_flags(${target})
    target_link_libraries(${target} PRIVATE streamscope::cuda_headers Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests
      BUILD_RPATH ${fake_folder})
  endfunction()
  function(collect_plugin target)
    add_library(${target} SHARED ${ARGN})
    streamscope_flags(${target})
    target_link_libraries(${target} PRIVATE streamscope::cuda_headers)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  endfunction()
  collect_unusual_program(collect_loader ${collect}/programs/loader.cpp)
  add_dependencies(collect_loader fake_cuda)
  collect_plugin(collect_driver_plugin ${collect}/programs/plugin.cpp)
  target_link_libraries(collect_driver_plugin PRIVATE fake_cuda)
  collect_unusual_program(collect_interposed_linked_child ${collect}/interposed_child.cpp)
  target_include_directories(collect_interposed_linked_child PRIVATE ${call_table})
  target_link_libraries(collect_interposed_linked_child PRIVATE streamscope::collect_calls fake_cuda)

  collect_unusual_program(collect_nvtx ${collect}/programs/nvtx.cpp)
  target_link_libraries(collect_nvtx PRIVATE fake_cuda)
  collect_plugin(collect_fake_c10 ${collect}/fake/fake_c10.cpp)
  set_target_properties(collect_fake_c10 PROPERTIES OUTPUT_NAME c10)
  collect_plugin(collect_nvtx_tool ${collect}/fake/fake_nvtx_tool.cpp)

  # Sanitized programs, where neither this build nor the compiler prevents it.
  include(CheckCXXSourceCompiles)
  foreach(sanitizer address thread)
    set(CMAKE_REQUIRED_FLAGS -fsanitize=${sanitizer})
    check_cxx_source_compiles("int main() { return 0; }" STREAMSCOPE_HAVE_${sanitizer}_SANITIZER)
    unset(CMAKE_REQUIRED_FLAGS)
    set(sanitized_${sanitizer} "")
    if(STREAMSCOPE_HAVE_${sanitizer}_SANITIZER AND NOT STREAMSCOPE_SANITIZE)
      collect_unusual_program(collect_${sanitizer}_sanitized ${collect}/programs/sanitized.cpp)
      target_compile_options(collect_${sanitizer}_sanitized PRIVATE -fsanitize=${sanitizer})
      target_link_options(collect_${sanitizer}_sanitized PRIVATE -fsanitize=${sanitizer})
      target_link_libraries(collect_${sanitizer}_sanitized PRIVATE fake_cuda)
      set(sanitized_${sanitizer} $<TARGET_FILE:collect_${sanitizer}_sanitized>)
    endif()
  endforeach()
  find_file(STREAMSCOPE_JEMALLOC libjemalloc.so.2 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /usr/lib64 /usr/lib)
  set(jemalloc "")
  if(STREAMSCOPE_JEMALLOC)
    set(jemalloc ${STREAMSCOPE_JEMALLOC})
  endif()

  add_library(collect_python_scene SHARED ${collect}/python_scene.cpp)
  streamscope_flags(collect_python_scene)
  target_link_libraries(collect_python_scene PRIVATE streamscope::cuda_headers fake_cuda fake_cupti)
  set_target_properties(collect_python_scene PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  add_library(collect_slow_library SHARED ${collect}/slow_library.cpp)
  streamscope_flags(collect_slow_library)
  set_target_properties(collect_slow_library PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)

  streamscope_test(collect LABELS unit SOURCES ${collect}/observed.cpp ${PROJECT_SOURCE_DIR}/profiler/collect/confirm/chosen_order.cpp
    LINK streamscope::ring streamscope::collect_decode streamscope::cuda_headers)
  target_compile_definitions(collect_test PRIVATE COLLECT_LIBRARY="$<TARGET_FILE:streamscope_collect>"
    COLLECT_CHILD="$<TARGET_FILE:collect_child>" COLLECT_LINKED_CHILD="$<TARGET_FILE:collect_linked_child>"
    COLLECT_PLAIN_CHILD="$<TARGET_FILE:collect_plain_child>"
    COLLECT_CALLS_LIBRARY="$<TARGET_FILE:streamscope_collect_calls>"
    COLLECT_FAKE_CUPTI="$<TARGET_FILE:fake_cupti>" COLLECT_FAKE_INJECTION="$<TARGET_FILE:fake_injection>"
    COLLECT_INTERPOSED_CHILD="$<TARGET_FILE:collect_interposed_child>"
    COLLECT_RUNTIME_CHILD="$<TARGET_FILE:collect_runtime_child>"
    COLLECT_DRIVERLESS_CHILD="$<TARGET_FILE:collect_driverless_child>"
    COLLECT_PYTHON_SCENE="$<TARGET_FILE:collect_python_scene>"
    COLLECT_SLOW_LIBRARY="$<TARGET_FILE:collect_slow_library>" COLLECT_FAKE_C10="$<TARGET_FILE:collect_fake_c10>")
  # Machine code of several GPUs, which kernel_code_test.cpp reads; without nvcc that test is left out.
  if(STREAMSCOPE_NVCC)
    include(${PROJECT_SOURCE_DIR}/cmake/GpuCode.cmake)
    set(cubins ${CMAKE_BINARY_DIR}/tests/cubins)
    file(MAKE_DIRECTORY ${cubins})
    set(made "")
    foreach(sm 75 80 90 100 120)
      if("${sm}" IN_LIST known_gpus)
        set(sources signals signals_in_a_function textures)
        if(sm GREATER_EQUAL 90)
          list(APPEND sources tensor_maps)
        endif()
        foreach(source ${sources})
          set(cubin ${cubins}/${source}.sm_${sm})
          add_custom_command(OUTPUT ${cubin}
            COMMAND ${STREAMSCOPE_NVCC} -cubin -arch=sm_${sm} -std=c++17
              $<$<STREQUAL:${source},signals_in_a_function>:-rdc=true> -o ${cubin} ${collect}/${source}.cu
            DEPENDS ${collect}/${source}.cu COMMENT "Compiling ${source}.cu for sm_${sm}" VERBATIM COMMAND_EXPAND_LISTS)
          list(APPEND made ${cubin})
        endforeach()
      endif()
    endforeach()
    add_custom_target(collect_cubins DEPENDS ${made})
    add_dependencies(collect_test collect_cubins)
    streamscope_names(SOURCES collect/kernel_code_test.cpp NAMES COLLECT_CUBINS="${cubins}")
  else()
    set_source_files_properties(${collect}/kernel_code_test.cpp PROPERTIES HEADER_FILE_ONLY ON)
  endif()
  streamscope_names(SOURCES collect/robustness_test.cpp NAMES COLLECT_LOADER="$<TARGET_FILE:collect_loader>"
    COLLECT_PLUGIN="$<TARGET_FILE:collect_driver_plugin>" COLLECT_RUNTIME="$<TARGET_FILE:fake_cudart>"
    COLLECT_INTERPOSED_LINKED_CHILD="$<TARGET_FILE:collect_interposed_linked_child>"
    COLLECT_ADDRESS_SANITIZED="${sanitized_address}" COLLECT_THREAD_SANITIZED="${sanitized_thread}"
    COLLECT_JEMALLOC="${jemalloc}")
  streamscope_names(SOURCES collect/nvtx_chain_test.cpp NAMES COLLECT_NVTX_PROGRAM="$<TARGET_FILE:collect_nvtx>"
    COLLECT_NVTX_TOOL="$<TARGET_FILE:collect_nvtx_tool>" COLLECT_LIBRARY="$<TARGET_FILE:streamscope_collect>")
  foreach(program collect_fake_c10 collect_loader collect_driver_plugin collect_nvtx collect_nvtx_tool collect_interposed_linked_child
      collect_address_sanitized collect_thread_sanitized)
    if(TARGET ${program})
      add_dependencies(collect_test ${program})
    endif()
  endforeach()
  streamscope_bench(interposed LINK streamscope::collect_calls streamscope::collect streamscope::ring
    streamscope::cuda_headers fake_cuda fake_cupti)
  streamscope_bench(collect LINK streamscope::ring streamscope::cuda_headers fake_cuda fake_cupti streamscope::collect)
  if(STREAMSCOPE_SANITIZE)
    target_compile_definitions(collect_test PRIVATE COLLECT_SANITIZED)
  endif()
  add_dependencies(collect_test fake_injection streamscope_collect streamscope_collect_calls collect_interposed_child
    collect_runtime_child collect_driverless_child collect_child collect_linked_child collect_plain_child
    collect_python_scene collect_slow_library)
endif()
