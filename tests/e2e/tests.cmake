# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The whole flow, program to trace, on the simulated device: shell scripts, each run with the build folder.
# Sanitized builds leave them out: their runtime would have to come first in every recorded program.

if(TARGET streamscope AND TARGET streamscope_coord AND TARGET streamscope_collect AND NOT STREAMSCOPE_SANITIZE)
  foreach(program worker processes kill_at explored explored_check causes causes_check sampled)
    add_executable(e2e_${program} e2e/programs/${program}.cpp)
    streamscope_flags(e2e_${program})
    set_target_properties(e2e_${program} PROPERTIES
      OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
  endforeach()
  target_link_libraries(e2e_worker PRIVATE streamscope::coord)
  target_include_directories(e2e_worker PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(e2e_processes PRIVATE streamscope::coord)
  target_link_libraries(e2e_sampled PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  target_include_directories(e2e_kill_at PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(e2e_explored PRIVATE streamscope::coord)
  target_link_libraries(e2e_causes PRIVATE streamscope::coord)
  foreach(program explored_check causes_check)
    target_link_libraries(e2e_${program} PRIVATE streamscope::analysis)
  endforeach()

  if(STREAMSCOPE_HAVE_CUDA)  # for NVTX
    foreach(program rank rank_check)
      add_executable(e2e_${program} e2e/programs/${program}.cpp)
      streamscope_flags(e2e_${program})
      set_target_properties(e2e_${program} PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin/tests)
    endforeach()
    target_link_libraries(e2e_rank PRIVATE streamscope::coord streamscope::cuda_headers ${CMAKE_DL_LIBS})
    target_include_directories(e2e_rank PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(e2e_rank_check PRIVATE streamscope::job)
  endif()

  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/e2e/*.sh)
  list(FILTER scripts EXCLUDE REGEX "/(lib|slurm_cluster)\\.sh$")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME e2e.${name} COMMAND ${script} ${CMAKE_BINARY_DIR})
    set_tests_properties(e2e.${name} PROPERTIES LABELS e2e TIMEOUT 120 COST 10 SKIP_RETURN_CODE 77)
  endforeach()
  # The longest first where ctest has not measured any yet: beside the last one there is nothing to do.
  set_tests_properties(e2e.samples e2e.job_hangs e2e.cost PROPERTIES COST 40)
  # As large as ./dev nightly makes them.
  set_tests_properties(e2e.unfinished e2e.causes e2e.explored e2e.kills e2e.on_demand e2e.web PROPERTIES TIMEOUT 1800)
  # Dozens of recordings, one after the other.
  set_tests_properties(e2e.limits e2e.samples PROPERTIES TIMEOUT 600)
  # A time limit of Slurm passes.
  set_tests_properties(e2e.slurm PROPERTIES TIMEOUT 300)
  # They run several programs at a time, and check how soon each is explained.
  set_tests_properties(e2e.hangs e2e.job_hangs PROPERTIES PROCESSORS 2)
endif()
