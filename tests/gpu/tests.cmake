# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The checks that tests/gpu/run makes on a GPU machine are tested here without one.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_test(NAME gpu.checks COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/self_test.py)
  set_tests_properties(gpu.checks PROPERTIES LABELS unit TIMEOUT 60)
  add_test(NAME gpu.corpus COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/corpus_test.py)
  set_tests_properties(gpu.corpus PROPERTIES LABELS unit TIMEOUT 180)

  # Planted faults on the simulated device: estimated gains against those of the fixed twins.
  if(TARGET app_faults AND TARGET streamscope AND TARGET streamscope_collect AND NOT STREAMSCOPE_SANITIZE)
    add_test(NAME faults.simulated
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/faults.py ${CMAKE_BINARY_DIR})
    set_tests_properties(faults.simulated PROPERTIES LABELS e2e TIMEOUT 240)
    add_test(NAME library.simulated
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/library.py ${CMAKE_BINARY_DIR})
    set_tests_properties(library.simulated PROPERTIES LABELS e2e TIMEOUT 120)
  endif()
endif()
