# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Finds the library that reads Open Trace Format 2, version 3 or later. Without it, such archives cannot be imported.
#   streamscope::otf2  the library, if it was found

find_program(STREAMSCOPE_OTF2_CONFIG otf2-config)  # Score-P's own installations have it, Debian's package does not
get_filename_component(otf2_prefix "${STREAMSCOPE_OTF2_CONFIG}" DIRECTORY)
find_path(STREAMSCOPE_OTF2_INCLUDE_DIR otf2/otf2.h HINTS ${otf2_prefix}/../include)
find_library(STREAMSCOPE_OTF2_LIBRARY NAMES otf2 open-trace-format2 HINTS ${otf2_prefix}/../lib ${otf2_prefix}/../lib64)
set(otf2_version "")
if(STREAMSCOPE_OTF2_INCLUDE_DIR AND STREAMSCOPE_OTF2_LIBRARY)
  file(STRINGS ${STREAMSCOPE_OTF2_INCLUDE_DIR}/otf2/OTF2_GeneralDefinitions.h otf2_version REGEX "define OTF2_VERSION +\"")
  string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" otf2_version "${otf2_version}")
  if(NOT otf2_version VERSION_LESS 3)
    add_library(streamscope::otf2 UNKNOWN IMPORTED GLOBAL)
    set_target_properties(streamscope::otf2 PROPERTIES IMPORTED_LOCATION ${STREAMSCOPE_OTF2_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${STREAMSCOPE_OTF2_INCLUDE_DIR})
  endif()
endif()
message(STATUS "OTF2: ${STREAMSCOPE_OTF2_LIBRARY} ${otf2_version}")
