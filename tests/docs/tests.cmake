# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The documentation: it builds as a site, and the commands in it do what the pages say.

find_package(Python3 3.9 COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_test(NAME docs.tests_notice COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/harness_test.py)
  set_tests_properties(docs.tests_notice PROPERTIES LABELS unit TIMEOUT 120)

  add_test(NAME docs.site COMMAND ${PROJECT_SOURCE_DIR}/docs/site/build.sh ${CMAKE_BINARY_DIR})
  set_tests_properties(docs.site PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 300)

  # Sanitized programs would need their runtime first in every program that the pages record.
  if(TARGET streamscope AND TARGET streamscope_coord AND TARGET streamscope_collect AND NOT STREAMSCOPE_SANITIZE)
    add_test(NAME docs.commands COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/run.py --build ${CMAKE_BINARY_DIR})
    set_tests_properties(docs.commands PROPERTIES LABELS e2e TIMEOUT 900 COST 20)
    add_test(NAME docs.cluster COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/docs/cluster.sh ${CMAKE_BINARY_DIR})
    set_tests_properties(docs.cluster PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 300)
  endif()
endif()
