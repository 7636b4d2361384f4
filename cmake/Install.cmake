# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What `cmake --install` lays down. Programs find what they need relative to themselves, so the tree may be moved:
#   bin/streamscope, bin/streamscope-viewer
#   lib/libcoord.so (a link to the version), lib/libstreamscope_inject.so, and whatever their static helpers are called
#   libexec/streamscope/   the demos
#   share/                 the manual page, completion scripts of bash, zsh and fish
#   include/coord/         the public headers
#   lib/cmake/streamscope/ find_package(streamscope): streamscope::coord, streamscope::collect
include(CMakePackageConfigHelpers)

set(streamscope_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/streamscope)

# Programs of this build: the viewer is optional.
foreach(program streamscope streamscope-viewer)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# streamscope_prints(FILE FOLDER ARGUMENT...): what the program prints is a file of FOLDER.
function(streamscope_prints file folder)
  set(output ${CMAKE_BINARY_DIR}/share/${file})
  add_custom_command(OUTPUT ${output} DEPENDS streamscope VERBATIM
    COMMAND $<TARGET_FILE:streamscope> ${ARGN} > ${output})
  set_property(GLOBAL APPEND PROPERTY STREAMSCOPE_PRINTED ${output})
  install(FILES ${output} DESTINATION ${folder})
endfunction()

if(TARGET streamscope AND NOT STREAMSCOPE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share)
  streamscope_prints(streamscope.1 ${CMAKE_INSTALL_MANDIR}/man1 manual)
  streamscope_prints(streamscope ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
  streamscope_prints(_streamscope ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
  streamscope_prints(streamscope.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
  get_property(printed GLOBAL PROPERTY STREAMSCOPE_PRINTED)
  add_custom_target(streamscope_printed ALL DEPENDS ${printed})
endif()

get_property(streamscope_examples GLOBAL PROPERTY STREAMSCOPE_EXAMPLES)
if(streamscope_examples)
  list(TRANSFORM streamscope_examples PREPEND example_)
  file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_LIBEXECDIR}/streamscope /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${streamscope_examples} PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS ${streamscope_examples} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/streamscope)
endif()

# Libraries that other projects link.
set(streamscope_libraries "")
foreach(library streamscope_coord streamscope_collect streamscope_collect_calls)
  if(TARGET ${library})
    list(APPEND streamscope_libraries ${library})
  endif()
endforeach()
if(NOT streamscope_libraries)
  return()
endif()
install(TARGETS ${streamscope_libraries} EXPORT streamscopeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/libcoord/include/coord DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT streamscopeTargets NAMESPACE streamscope:: DESTINATION ${streamscope_package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/streamscopeConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfig.cmake INSTALL_DESTINATION ${streamscope_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfigVersion.cmake
        DESTINATION ${streamscope_package_dir})
