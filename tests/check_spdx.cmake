# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Every source file names its copyright holder and its license in its first lines.
#   cmake -DROOT=... -P tests/check_spdx.cmake
cmake_minimum_required(VERSION 3.24)

set(folders .ci .github cmake docs libcoord profiler viewer tests)
set(patterns "")
foreach(folder ${folders})
  foreach(kind *.h *.hpp *.cpp *.c *.cu *.cuh *.def *.map *.sql *.cmake *.py *.sh *.yml CMakeLists.txt run)
    list(APPEND patterns ${ROOT}/${folder}/${kind})
  endforeach()
endforeach()
file(GLOB_RECURSE files ${patterns})
list(APPEND files ${ROOT}/CMakeLists.txt ${ROOT}/dev)

set(bare "")
set(seen 0)
foreach(file ${files})
  if(IS_DIRECTORY ${file} OR NOT EXISTS ${file})
    continue()
  endif()
  math(EXPR seen "${seen} + 1")
  file(READ ${file} head LIMIT 400)
  if(NOT head MATCHES "SPDX-FileCopyrightText: 20[0-9][0-9] StreamScope contributors\n[^\n]*SPDX-License-Identifier: Apache-2.0\n")
    file(RELATIVE_PATH where ${ROOT} ${file})
    list(APPEND bare ${where})
  endif()
endforeach()

if(seen EQUAL 0)
  message(FATAL_ERROR "no source was found below ${ROOT}; is ROOT right?")
endif()
if(bare)
  list(JOIN bare "\n  " text)
  message(FATAL_ERROR "without the two SPDX lines (see any other file):\n  ${text}")
endif()
message(STATUS "${seen} files carry their license")
