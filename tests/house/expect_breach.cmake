# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Proves that the checks of the house can fail: plants one breach at a time in a small tree and runs the check on it.
#   cmake -DCHECKS=<tests folder> -DWORK=<scratch folder> -P expect_breach.cmake
cmake_minimum_required(VERSION 3.24)

set(license "// SPDX-FileCopyrightText: 2026 StreamScope contributors\n// SPDX-License-Identifier: Apache-2.0\n")

# plant(FILE TEXT): a fresh tree that holds one clean file and this one.
function(plant file text)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/profiler/trace/clean.cpp "${license}#include <vector>\n#include \"trace/model.h\"\n")
  foreach(also CMakeLists.txt dev)
    file(WRITE ${WORK}/${also} "${license}")
  endforeach()
  file(WRITE ${WORK}/${file} "${text}")
endfunction()

# expect(CHECK ok|"message that must appear")
function(expect check outcome)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${WORK} -P ${CHECKS}/${check}.cmake
                  RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  string(REGEX REPLACE "[ \n]+" " " said "${out}${err}")  # CMake wraps the lines of an error
  if(outcome STREQUAL "ok")
    if(NOT code EQUAL 0)
      message(FATAL_ERROR "${check} refused a clean tree: ${said}")
    endif()
  elseif(code EQUAL 0)
    message(FATAL_ERROR "${check} did not notice a breach that should say '${outcome}'")
  else()
    string(FIND "${said}" "${outcome}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${check} should have said '${outcome}', but said: ${said}")
    endif()
  endif()
endfunction()

plant(profiler/ring/ring.cpp "${license}#include \"ring/ring.h\"\n#include <sys/mman.h>\n")
expect(check_layers ok)
expect(check_spdx ok)

plant(profiler/trace/upwards.cpp "${license}#include \"report/text.h\"\n")
expect(check_layers "profiler/trace/upwards.cpp: includes report/text.h")

plant(profiler/record/sideways.cpp "${license}#include \"collect/decode.h\"\n")
expect(check_layers "profiler/record/sideways.cpp: includes collect/decode.h")

plant(profiler/collect/too_much.cpp "${license}#include <coord/device.h>\n")
expect(check_layers "profiler/collect/too_much.cpp: includes coord/device.h")

plant(profiler/collect/observer.cpp "${license}#include <coord/observer.h>\n")
expect(check_layers ok)

plant(profiler/analysis/sql.cpp "${license}  #  include <sqlite3.h>\n")
expect(check_layers "profiler/analysis/sql.cpp: includes sqlite3.h, which only profiler/trace may")

plant(profiler/cli/merge.cpp "${license}#include <CLI/CLI.hpp>\n")
expect(check_layers "profiler/cli/merge.cpp: includes CLI/CLI.hpp, which only profiler/cli/command_line")

plant(viewer/panels/escape.cpp "${license}#include \"../../profiler/ring/ring.h\"\n")
expect(check_layers "viewer/panels/escape.cpp: includes ../../profiler/ring/ring.h, which leaves viewer")

plant(libcoord/src/needs_test.cpp "${license}#include \"tests/support/trace_builder.h\"\n")
expect(check_layers "nothing may include tests/")

plant(viewer/window/window.cpp "#pragma once\n")
expect(check_spdx "viewer/window/window.cpp")

plant(tests/apps/other.cu "// SPDX-FileCopyrightText: 2026 StreamScope contributors\n// SPDX-License-Identifier: MIT\n")
expect(check_spdx "tests/apps/other.cu")

file(REMOVE_RECURSE ${WORK})
