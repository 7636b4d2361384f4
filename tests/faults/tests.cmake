# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Recordings and commands with a fault at every call by which they reach the system (run.py). ctest runs a sample,
# `./dev nightly` all.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(TARGET streamscope AND TARGET streamscope_coord AND TARGET streamscope_collect AND NOT STREAMSCOPE_SANITIZE)
  add_executable(faults_target faults/target.cpp)
  add_executable(faults_linked_target faults/target.cpp)
  set_target_properties(faults_target faults_linked_target PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  add_library(faults_injector MODULE faults/injector.cpp faults/calls.cpp)
  set_target_properties(faults_injector PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  foreach(target faults_target faults_linked_target faults_injector)
    streamscope_test_flags(${target})
  endforeach()
  target_link_libraries(faults_target PRIVATE streamscope::coord)
  target_link_libraries(faults_linked_target PRIVATE streamscope::coord streamscope::collect)
  target_compile_options(faults_injector PRIVATE -O2 -fvisibility=hidden)
  target_link_libraries(faults_injector PRIVATE streamscope::vocabulary ${CMAKE_DL_LIBS})

  if(Python3_Interpreter_FOUND)
    add_test(NAME faults.sample COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/faults/run.py ${CMAKE_BINARY_DIR})
    add_test(NAME faults.self_test COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/faults/self_test.py ${CMAKE_BINARY_DIR})
    # As long as ./dev nightly makes it.
    set_tests_properties(faults.sample PROPERTIES LABELS e2e TIMEOUT 7200 COST 40 PROCESSORS 2 SKIP_RETURN_CODE 77)
    set_tests_properties(faults.self_test PROPERTIES LABELS e2e TIMEOUT 240 SKIP_RETURN_CODE 77)
  endif()
endif()
