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

# Each public header compiles alone.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/libcoord/include/coord/*.h)
set(alone "")
foreach(header ${headers})
  get_filename_component(name ${header} NAME_WE)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/coord_headers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include <coord/${name}.h>\n")
  list(APPEND alone ${source})
endforeach()

# The test program exports an observer, which libcoord finds as it would find a profiler's.
streamscope_test(coord LABELS coord unit SOURCES coord/fake_observer.cpp coord/explore_device_corpus.cpp
  coord/explore_host_corpus.cpp ${alone} LINK streamscope::coord)
set_target_properties(coord_test PROPERTIES ENABLE_EXPORTS ON)

streamscope_bench(coord LINK streamscope::coord Threads::Threads)
streamscope_bench(sim LINK streamscope::coord)
streamscope_bench(fidelity LINK streamscope::coord)
