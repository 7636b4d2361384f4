# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What CPack makes of the components of cmake/Install.cmake (`./dev package`; docs/packages.md):
#   DEB   a package for each component, for the distribution that it is made on
#   TXZ   one archive of all components, and with the libraries that not every Linux has; made on Debian 12, as what is linked
#         with a newer libc needs it
# per_generator.cmake says what differs between them. finish.cmake finishes the installed files before they are packed,
# triggers.cmake the packages.
cmake_host_system_information(RESULT distribution QUERY DISTRIB_ID DISTRIB_VERSION_ID)
list(JOIN distribution "" distribution)
set(CPACK_GENERATOR DEB)
if(distribution STREQUAL debian12)
  list(APPEND CPACK_GENERATOR TXZ)
endif()
set(CPACK_PACKAGE_NAME streamscope)
set(CPACK_SYSTEM_NAME linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_VENDOR "StreamScope contributors")
set(CPACK_PACKAGE_CONTACT "StreamScope contributors <streamscope@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_HOMEPAGE_URL https://github.com/streamscope/streamscope)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_THREADS 0)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/per_generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/triggers.cmake)

# Libraries for the archive. The C and C++ runtime, zlib, and what drives display and GPU come from the system, which may need
# newer ones.
install(RUNTIME_DEPENDENCY_SET streamscope_carried
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s|z)\\.so" "^lib(GL|EGL|X|xcb|wayland|xkb).*\\.so" "^ld-linux"
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/streamscope COMPONENT carried EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/licenses.cmake COMPONENT carried EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/streamscope COMPONENT carried EXCLUDE_FROM_ALL)

# Licenses of what is compiled in, from the packages that it comes from.
foreach(component programs viewer)
  set(compiled_in libcli11-dev nlohmann-json3-dev)
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/streamscope/licenses)
  if(STREAMSCOPE_STATIC_EVENT)
    list(APPEND compiled_in libevent-dev)
  endif()
  if(component STREQUAL viewer)
    list(APPEND compiled_in libimgui-dev fonts-inter fonts-jetbrains-mono)
    set(folder ${CMAKE_INSTALL_DATADIR}/doc/streamscope-viewer/licenses)
  endif()
  foreach(package ${compiled_in})
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION ${folder} RENAME ${package} COMPONENT ${component})
    endif()
  endforeach()
endforeach()

# Debian's version names the distribution, as the libraries differ between them.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${distribution})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)

# streamscope_package(COMPONENT NAME SECTION SUMMARY [DESCRIPTION line...] [NEEDS component...]): NEEDS are components whose package
# must be there in the same version.
set(CPACK_COMPONENTS_ALL "")
function(streamscope_package component name section summary)
  cmake_parse_arguments(arg "" "" "DESCRIPTION;NEEDS" ${ARGN})
  string(TOUPPER ${component} upper)
  list(JOIN arg_DESCRIPTION "\n" description)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DEPENDS ${arg_NEEDS} PARENT_SCOPE)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
endfunction()

streamscope_package(programs streamscope devel "profiler of CUDA streams: shows why they wait" NEEDS libcoord
  DESCRIPTION "StreamScope records in one SQLite file how a CUDA program coordinates its"
              "streams, and explains it: which stream waited for which work, what bounds an"
              "iteration, and how long it would take after each repair."
              "This package contains the command line, the collector that is loaded into"
              "the observed program, and demos that need no GPU.")
streamscope_package(viewer streamscope-viewer devel "timeline viewer of StreamScope traces"
  DESCRIPTION "Shows the traces of StreamScope: lanes of CUDA streams and host threads, the"
              "events that connect them, and why each operation started late. Also draws"
              "pictures without a display.")
get_target_property(soversion streamscope_coord SOVERSION)
streamscope_package(libcoord libcoord${soversion} libs "coordination of CUDA streams (shared library)"
  DESCRIPTION "libcoord orders the work of CUDA streams: operations with dependencies,"
              "barriers, event and stream pools, and timelines, on a GPU or on a simulated"
              "device.")
streamscope_package(development libcoord-dev libdevel "coordination of CUDA streams (development files)" NEEDS libcoord programs
  DESCRIPTION "Headers of libcoord, and CMake files for libcoord (streamscope::coord) and for"
              "recording a program from inside (streamscope::collect).")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS streamscope-viewer)
set(CPACK_DEBIAN_VIEWER_PACKAGE_RECOMMENDS streamscope)

include(CPack)
