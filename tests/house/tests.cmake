# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The house itself: its checks can fail, its script answers.

find_package(Python3 3.9 COMPONENTS Interpreter)

add_test(NAME house.checks_notice_breaches
  COMMAND ${CMAKE_COMMAND} -DCHECKS=${CMAKE_CURRENT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/house/tree
          -P ${CMAKE_CURRENT_SOURCE_DIR}/house/expect_breach.cmake)
add_test(NAME house.dev_script COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/dev_test.sh ${PROJECT_SOURCE_DIR}/dev)
add_test(NAME house.recipes COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/recipes.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(house.checks_notice_breaches house.dev_script house.recipes PROPERTIES LABELS unit)

# No function above 80 lines, no file above 600, no worn-out phrases.
if(Python3_Interpreter_FOUND)
  add_test(NAME house.sizes COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_sizes.py ${PROJECT_SOURCE_DIR})
  add_test(NAME house.sizes_notices COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/sizes_test.py)
  add_test(NAME house.language COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_language.py ${PROJECT_SOURCE_DIR})
  add_test(NAME house.language_notices COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/language_test.py)
  add_test(NAME house.release COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/check_release.py ${PROJECT_SOURCE_DIR})
  add_test(NAME house.release_notices COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/release_test.py)
  add_test(NAME house.coverage_counts COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/coverage_test.py)
  if(NOT STREAMSCOPE_SANITIZE)
    add_test(NAME house.sources_compile_alone
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/house/alone_test.py
              ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${CMAKE_CXX_COMPILER})
    set_tests_properties(house.sources_compile_alone PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77)
  endif()
  add_test(NAME docs.picture_of_includes_is_current COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/draw_includes.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/images/includes.svg)
  set_tests_properties(docs.picture_of_includes_is_current house.sizes house.sizes_notices house.language house.language_notices
    house.release house.release_notices house.coverage_counts PROPERTIES LABELS unit)
endif()

# By the system's Python, whose packages `./dev` installs.
add_test(NAME house.workflows COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/workflows_test.py)
set_tests_properties(house.workflows PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
