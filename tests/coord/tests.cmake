# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Every example, checking its own numbers: on the simulated device, and on a GPU where there is one (else skipped).
get_property(examples GLOBAL PROPERTY STREAMSCOPE_EXAMPLES)
foreach(example ${examples})
  foreach(device sim cuda)
    add_test(NAME example.${example}.${device}
      COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:example_${example}> -DDEVICE=${device} -DEXAMPLE=${example}
              -P ${CMAKE_CURRENT_LIST_DIR}/run_example.cmake)
    set_tests_properties(example.${example}.${device} PROPERTIES LABELS "coord;conformance" TIMEOUT 60
      SKIP_REGULAR_EXPRESSION "no such device here")
  endforeach()
endforeach()

# Each public header compiles alone, which sanitized builds leave to the others, and builds of several sources at once to
# house.sources_compile_alone.
set(alone "")
set(headers "")
if(NOT STREAMSCOPE_SANITIZE AND NOT STREAMSCOPE_UNITY)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libcoord/include/coord/*.h)
endif()
foreach(header ${headers})
  get_filename_component(name ${header} NAME_WE)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/coord_headers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <coord/${name}.h>\n")
  list(APPEND alone ${source})
endforeach()
set_source_files_properties(${alone} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)

# What is tested by itself though libcoord does not export it.
set(internal ${PROJECT_SOURCE_DIR}/libcoord/src/host/short_lock.cpp ${PROJECT_SOURCE_DIR}/libcoord/src/host/thread_number.cpp)

# The test program exports an observer, which libcoord finds as it would find a profiler's.
streamscope_test(coord LABELS coord unit SOURCES coord/fake_observer.cpp coord/explore_device_corpus.cpp
  coord/explore_host_corpus.cpp coord/interleave.cpp ${alone} ${internal} LINK streamscope::coord)
# Three of its headers are tested in every order of their steps.
target_include_directories(coord_test PRIVATE ${PROJECT_SOURCE_DIR}/libcoord/src)
# Optimized: they run a million orders.
set_source_files_properties(coord/interleave.cpp coord/task_order_test.cpp coord/task_ring_test.cpp coord/waits_test.cpp PROPERTIES
  COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
set_target_properties(coord_test PROPERTIES ENABLE_EXPORTS ON)

streamscope_bench(coord LINK streamscope::coord Threads::Threads)
streamscope_bench(chains LINK streamscope::coord)
set_tests_properties(bench.chains PROPERTIES PASS_REGULAR_EXPRESSION "rival [a-z0-9_]+ ")
streamscope_bench(tasks LINK streamscope::coord Threads::Threads)
streamscope_bench(waiting LINK streamscope::coord Threads::Threads)
streamscope_bench(sim LINK streamscope::coord)
streamscope_bench(fidelity LINK streamscope::coord)

# The cost of reporting to a profiler: one loop with libcoord, and with one whose operations have no observer. That takes the objects
# of single sources.
if(TARGET streamscope AND TARGET streamscope_collect AND NOT STREAMSCOPE_UNITY)
  file(GLOB telling CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libcoord/src/coordinator/coordinator*.cpp)
  add_library(coord_untraced OBJECT ${telling})
  streamscope_flags(coord_untraced)
  target_compile_definitions(coord_untraced PRIVATE COORD_WITHOUT_OBSERVER $<$<BOOL:${STREAMSCOPE_HAVE_CUDA}>:COORD_HAVE_CUDA>)
  target_include_directories(coord_untraced PRIVATE ${PROJECT_SOURCE_DIR}/libcoord/src ${PROJECT_SOURCE_DIR}/libcoord/include)
  target_compile_options(coord_untraced PRIVATE -fPIC -fno-semantic-interposition)
  foreach(loop submit_loop submit_loop_untraced)
    add_executable(${loop} ${CMAKE_CURRENT_SOURCE_DIR}/bench/submit_loop.cpp)
    streamscope_flags(${loop})
    target_include_directories(${loop} PRIVATE ${PROJECT_SOURCE_DIR}/libcoord/include)
    target_link_libraries(${loop} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(${loop} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/bench)
  endforeach()
  target_sources(submit_loop PRIVATE $<TARGET_OBJECTS:streamscope_coord>)
  target_sources(submit_loop_untraced PRIVATE $<TARGET_OBJECTS:coord_untraced>
    $<FILTER:$<TARGET_OBJECTS:streamscope_coord>,EXCLUDE,/coordinator[^/]*$>)
  streamscope_bench(traced)
  add_dependencies(traced_bench submit_loop submit_loop_untraced streamscope streamscope_collect)
endif()

if(TARGET streamscope AND TARGET streamscope_collect)
  # Many threads and many processes that do little.
  add_executable(crowd ${CMAKE_CURRENT_SOURCE_DIR}/bench/crowd.cpp)
  streamscope_flags(crowd)
  target_link_libraries(crowd PRIVATE streamscope::coord Threads::Threads)
  set_target_properties(crowd PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/bench)
  streamscope_bench(crowd)
  add_dependencies(crowd_bench crowd streamscope streamscope_collect)
endif()
