# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Why work started late, checked from the tables of traces alone: recordings of ours, and profiles that others published.
# Recordings of random programs and of the examples are checked where they are made: e2e/causes.sh, e2e/examples.sh.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET streamscope AND NOT STREAMSCOPE_SANITIZE)
  foreach(from traces corpus)
    set(files ${from})
    if(from STREQUAL traces)
      set(files ${PROJECT_SOURCE_DIR}/traces)
    endif()
    add_test(NAME causes.${from}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/causes/check_causes.py $<TARGET_FILE:streamscope> ${files})
    set_tests_properties(causes.${from} PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
endif()
