# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Both ways of consuming the project, by a project outside.

if(TARGET e2e_worker AND STREAMSCOPE_INSTALL)
  foreach(way installed sources)
    add_test(NAME install.${way}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/install/${way}.sh ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    set_tests_properties(install.${way} PROPERTIES LABELS e2e TIMEOUT 600)
  endforeach()
endif()
