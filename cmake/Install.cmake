# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What `cmake --install` lays down. Programs find what they need relative to themselves, so the tree may be moved:
#   bin/streamscope, bin/streamscope-viewer
#   lib/libcoord.so (a link to the version), lib/libstreamscope_inject.so, and whatever their static helpers are called
#   libexec/streamscope/   the demos
#   share/                 manual pages, completion scripts of bash, zsh and fish; desktop entry, icon and file type of the viewer
#   share/streamscope/     a dashboard, and scripts for Slurm and Kubernetes
#   include/coord/         the public headers
#   lib/cmake/streamscope/ find_package(streamscope): streamscope::coord, streamscope::collect
# Its components are the packages that cmake/packaging/Packages.cmake makes:
#   programs, viewer, libcoord, development
include(CMakePackageConfigHelpers)

set(streamscope_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/streamscope)

# streamscope_prints(FILE FOLDER ARGUMENT...): what the program prints is a file of FOLDER.
function(streamscope_prints file folder)
  set(output ${CMAKE_BINARY_DIR}/share/${file})
  add_custom_command(OUTPUT ${output} DEPENDS streamscope VERBATIM
    COMMAND $<TARGET_FILE:streamscope> ${ARGN} > ${output})
  set_property(GLOBAL APPEND PROPERTY STREAMSCOPE_PRINTED ${output})
  install(FILES ${output} DESTINATION ${folder} COMPONENT programs)
endfunction()

set(runs_here ON)
if(STREAMSCOPE_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(runs_here OFF)
endif()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share)
if(TARGET streamscope)
  install(TARGETS streamscope RUNTIME_DEPENDENCY_SET streamscope_carried
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
endif()
if(TARGET streamscope AND runs_here)
  streamscope_prints(streamscope.1 ${CMAKE_INSTALL_MANDIR}/man1 manual)
  streamscope_prints(streamscope ${CMAKE_INSTALL_DATADIR}/bash-completion/completions completion bash)
  streamscope_prints(_streamscope ${CMAKE_INSTALL_DATADIR}/zsh/site-functions completion zsh)
  streamscope_prints(streamscope.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d completion fish)
endif()

# A dashboard and scripts for services (docs/services.md).
set(services ${PROJECT_SOURCE_DIR}/docs/services)
install(FILES ${services}/grafana-dashboard.json ${services}/kubernetes-pod.yaml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/streamscope COMPONENT programs)
install(PROGRAMS ${services}/slurm-epilog.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/streamscope COMPONENT programs)
# As source: each cluster has an MPI of its own.
install(FILES ${PROJECT_SOURCE_DIR}/profiler/job/mpi/clock_offsets.c DESTINATION ${CMAKE_INSTALL_DATADIR}/streamscope COMPONENT programs)

# The viewer for browsers, if it was made (./dev web): the same pages for every machine.
install(FILES ${PROJECT_SOURCE_DIR}/build-web/viewer.html ${PROJECT_SOURCE_DIR}/build-web-threads/viewer-threads.html
  DESTINATION ${CMAKE_INSTALL_DATADIR}/streamscope COMPONENT programs OPTIONAL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build-web/sources/licenses/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/streamscope/licenses-of-page COMPONENT programs OPTIONAL)

if(TARGET streamscope-viewer)  # it is optional
  set(desktop ${CMAKE_CURRENT_LIST_DIR}/packaging)
  install(TARGETS streamscope-viewer RUNTIME_DEPENDENCY_SET streamscope_carried
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT viewer)
  install(FILES ${desktop}/streamscope-viewer.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT viewer)
  install(FILES ${desktop}/streamscope-viewer.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT viewer)
  install(FILES ${desktop}/streamscope.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages COMPONENT viewer)
  install(FILES ${desktop}/io.github.streamscope.viewer.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo COMPONENT viewer)
  if(runs_here)
    set(manual ${CMAKE_BINARY_DIR}/share/streamscope-viewer.1)
    add_custom_command(OUTPUT ${manual} DEPENDS streamscope-viewer ${desktop}/viewer_manual.cmake VERBATIM
      COMMAND ${CMAKE_COMMAND} -DVIEWER=$<TARGET_FILE:streamscope-viewer> -DVERSION=${PROJECT_VERSION} -DOUTPUT=${manual}
              -P ${desktop}/viewer_manual.cmake)
    set_property(GLOBAL APPEND PROPERTY STREAMSCOPE_PRINTED ${manual})
    install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT viewer)
  endif()
endif()
get_property(printed GLOBAL PROPERTY STREAMSCOPE_PRINTED)
if(printed)
  add_custom_target(streamscope_printed ALL DEPENDS ${printed})
endif()

get_property(streamscope_examples GLOBAL PROPERTY STREAMSCOPE_EXAMPLES)
if(streamscope_examples)
  list(TRANSFORM streamscope_examples PREPEND example_)
  file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_LIBEXECDIR}/streamscope /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${streamscope_examples} PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
  install(TARGETS ${streamscope_examples} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/streamscope
    COMPONENT programs)
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
foreach(library ${streamscope_libraries})
  set(component programs)  # the collector
  if(library STREQUAL streamscope_coord)
    set(component libcoord)
  endif()
  install(TARGETS ${library} EXPORT streamscopeTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component} NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/libcoord/include/coord DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT streamscopeTargets NAMESPACE streamscope:: DESTINATION ${streamscope_package_dir} COMPONENT development)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/streamscopeConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfig.cmake INSTALL_DESTINATION ${streamscope_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/streamscopeConfigVersion.cmake
        DESTINATION ${streamscope_package_dir} COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_LIST_DIR}/packaging/Packages.cmake)
endif()
