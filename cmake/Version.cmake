# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Sets streamscope_version from its only place, the Python package: Python's installers build from that folder alone.
set(streamscope_version_file ${CMAKE_CURRENT_LIST_DIR}/../profiler/python/streamscope/__init__.py)
file(STRINGS ${streamscope_version_file} streamscope_version REGEX "^__version__ = ")
if(NOT streamscope_version MATCHES "^__version__ = \"([0-9]+\\.[0-9]+\\.[0-9]+)\"")
  message(FATAL_ERROR "${streamscope_version_file}: the version is read from its line '__version__ = \"MAJOR.MINOR.PATCH\"', "
                      "but it has '${streamscope_version}'; correct this line")
endif()
set(streamscope_version ${CMAKE_MATCH_1})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${streamscope_version_file})
