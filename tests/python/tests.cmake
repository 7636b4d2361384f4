# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The Python package on the simulated device, run by pytest.

if(TARGET e2e_worker AND STREAMSCOPE_INSTALL)
  add_library(python_simulated_steps SHARED python/simulated_steps.cpp)
  streamscope_test_flags(python_simulated_steps)
  target_link_libraries(python_simulated_steps PRIVATE streamscope::coord)
  set_target_properties(python_simulated_steps PROPERTIES
    OUTPUT_NAME simulated_steps LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)

  foreach(part examples tables expectations recording plugin lightning wheel)
    add_test(NAME python.${part}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/python/run.sh ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/python/${part}_test.py)
    set_tests_properties(python.${part} PROPERTIES LABELS e2e TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()
endif()
