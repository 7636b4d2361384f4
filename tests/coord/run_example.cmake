# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Runs one example and checks how it ends and that it prints its counts.
#   cmake -DPROGRAM=... -DDEVICE=sim|cuda -DEXAMPLE=NAME -P run_example.cmake
execute_process(COMMAND ${PROGRAM} --device ${DEVICE} --iterations 8 --verify --timeout 1
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(result EQUAL 77)
  message("no such device here: ${errors}")
  return()
endif()
set(wanted 0)
if(EXAMPLE STREQUAL "deadlock")
  set(wanted 3)
  if(NOT errors MATCHES "deadlock")
    message(FATAL_ERROR "nothing was said about the deadlock: ${errors}")
  endif()
endif()
if(NOT result EQUAL wanted)
  message(FATAL_ERROR "exit code ${result} instead of ${wanted}: ${output}${errors}")
endif()
set(counts "")
foreach(name launches copies memsets records waits syncs operations)
  list(APPEND counts "\"${name}\":[0-9]+")
endforeach()
list(JOIN counts "," counts)
if(NOT output MATCHES "^{${counts}}\n$")
  message(FATAL_ERROR "the counts are missing: ${output}")
endif()
