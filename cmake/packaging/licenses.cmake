# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Run by the installation of the libraries that the archive carries: adds the license of each, from its Debian package.
set(prefix $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
file(GLOB libraries ${prefix}/lib/streamscope/*)
foreach(library ${libraries})
  get_filename_component(name ${library} NAME)
  execute_process(COMMAND dpkg-query --search "*/${name}" OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[:,].*" "" package "${owner}")
  configure_file(/usr/share/doc/${package}/copyright ${prefix}/share/doc/streamscope/licenses/${package} COPYONLY)
endforeach()
