# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Reads every #include of the sources and fails on one that the table of layers forbids.
#   cmake -DROOT=... -P tests/check_layers.cmake
cmake_minimum_required(VERSION 3.24)

# Folder -> our folders that it may include in addition to itself.
set(may_libcoord "")
set(may_profiler/vocabulary "")
set(may_profiler/trace "profiler/vocabulary")
set(may_profiler/ring "profiler/vocabulary")
set(may_profiler/collect "profiler/vocabulary;profiler/ring;coord-observer")
set(may_profiler/record "profiler/vocabulary;profiler/ring;profiler/trace")
set(may_profiler/serve "profiler/trace")
set(may_profiler/import "profiler/vocabulary;profiler/trace")
set(may_profiler/analysis "profiler/vocabulary;profiler/trace")
set(may_profiler/job "profiler/vocabulary;profiler/analysis;profiler/trace")
set(may_profiler/report "profiler/vocabulary;profiler/job;profiler/analysis;profiler/trace")
set(may_profiler/cli "profiler/vocabulary;profiler/ring;profiler/trace;profiler/record;profiler/import;profiler/analysis"
    "profiler/job;profiler/report;profiler/serve")
set(may_viewer "profiler/vocabulary;profiler/job;profiler/report;profiler/analysis;profiler/import;profiler/trace")
set(folders libcoord profiler/vocabulary profiler/trace profiler/ring profiler/collect profiler/record profiler/serve profiler/import
            profiler/analysis profiler/job profiler/report profiler/cli viewer)

# Outside header (a prefix), then the folders, or files without suffix, that alone may include it, separated by |.
set(outside "sqlite3.h|profiler/trace" "CLI/|profiler/cli/command_line|viewer/window/arguments" "cuda.h|profiler/collect|libcoord/src/cuda"
            "cupti|profiler/collect" "nvtx3/|profiler/collect|libcoord/src" "imgui|viewer" "GLFW/|viewer"
            "elfutils/|profiler/record" "simdjson|profiler/import" "zlib.h|profiler/import|profiler/report/app" "otf2/|profiler/import/otf2"
            "event2/|profiler/serve"
            "export/perfetto.pb.h|profiler/report" "export/chakra.pb.h|profiler/report" "files/packed_summary.pb.h|profiler/job"
            "files/packed_hang.pb.h|profiler/job"
            "nlohmann/|profiler/job|profiler/report|profiler/cli|viewer/window/workspace")

set(breaches "")
set(seen 0)
foreach(folder ${folders})
  file(GLOB_RECURSE files ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.cu ${ROOT}/${folder}/*.cuh
       ${ROOT}/${folder}/*.def)
  foreach(file ${files})
    file(RELATIVE_PATH where ${ROOT} ${file})
    file(STRINGS ${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]")
    foreach(line ${includes})
      math(EXPR seen "${seen} + 1")
      if(NOT line MATCHES "[<\"]([^>\"]+)[>\"]")
        continue()
      endif()
      set(header ${CMAKE_MATCH_1})
      # Ours: "trace/x.h" style names start with a folder of profiler/; coord/ is libcoord's public folder.
      set(target "")
      if(header MATCHES "^(vocabulary|trace|ring|collect|record|serve|import|analysis|job|report|cli)/")
        set(target profiler/${CMAKE_MATCH_1})
      elseif(header MATCHES "^viewer/")
        set(target viewer)
      elseif(header STREQUAL "coord/observer.h")
        set(target coord-observer)
      elseif(header MATCHES "^coord/")
        set(target libcoord)
      elseif(header MATCHES "(^|/)tests/")
        list(APPEND breaches "${where}: includes ${header}; nothing may include tests/")
      elseif(header MATCHES "^\\.\\./")
        get_filename_component(directory ${file} DIRECTORY)
        get_filename_component(resolved ${directory}/${header} ABSOLUTE)
        if(NOT resolved MATCHES "^${ROOT}/${folder}/")
          list(APPEND breaches "${where}: includes ${header}, which leaves ${folder}")
        endif()
      endif()
      if(target AND NOT target STREQUAL folder
         AND NOT (folder STREQUAL "libcoord" AND target STREQUAL "coord-observer")
         AND NOT target IN_LIST may_${folder})
        list(APPEND breaches "${where}: includes ${header}; ${folder} may include only itself and: ${may_${folder}}")
      endif()
      foreach(rule ${outside})
        string(REPLACE "|" ";" rule "${rule}")
        list(POP_FRONT rule prefix)
        string(FIND ${header} ${prefix} position)
        if(position EQUAL 0)
          set(allowed OFF)
          foreach(place ${rule})
            if(where MATCHES "^${place}[/.]")
              set(allowed ON)
            endif()
          endforeach()
          if(NOT allowed)
            list(APPEND breaches "${where}: includes ${header}, which only ${rule} may")
          endif()
        endif()
      endforeach()
    endforeach()
  endforeach()
endforeach()

if(seen EQUAL 0)
  message(FATAL_ERROR "no include was read below ${ROOT}; is ROOT right?")
endif()
if(breaches)
  list(JOIN breaches "\n  " text)
  message(FATAL_ERROR "layer breaches:\n  ${text}")
endif()
message(STATUS "${seen} includes, no layer breach")
