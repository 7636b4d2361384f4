# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The house itself: its checks can fail, its script answers.

add_test(NAME house.checks_notice_breaches
  COMMAND ${CMAKE_COMMAND} -DCHECKS=${CMAKE_CURRENT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/house/tree
          -P ${CMAKE_CURRENT_SOURCE_DIR}/house/expect_breach.cmake)
add_test(NAME house.dev_script COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/house/dev_test.sh ${PROJECT_SOURCE_DIR}/dev)
set_tests_properties(house.checks_notice_breaches house.dev_script PROPERTIES LABELS unit)
