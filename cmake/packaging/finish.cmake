# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# CPack calls this when the files of a package lie in its folder, and before it packs them.

# run(COMMAND...): a command that must succeed.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# What Debian wants in each package.
function(finish_debian component)
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share)
  set(changelog ${share}/doc/${name}/changelog.Debian)
  string(TIMESTAMP packed_at "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH
  configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${changelog} @ONLY)
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${share}/doc/${name})
  set(overrides ${CMAKE_CURRENT_LIST_DIR}/${component}.lintian-overrides)
  if(EXISTS ${overrides})
    configure_file(${overrides} ${share}/lintian/overrides/${name} COPYONLY)
  endif()
  file(GLOB manuals ${share}/man/man1/*)
  run(gzip -9n ${changelog} ${manuals})
  run(chmod -R u=rwX,go=rX ${share})  # whatever the checkout has
  # Libraries in packages are found without it.
  file(GLOB programs ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/bin/*
       ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/libexec/*/*)
  foreach(program ${programs})
    run(patchelf --remove-rpath ${program})
  endforeach()
endfunction()

# Programs find the libraries that come along, and these find each other.
function(finish_archive)
  file(GLOB programs ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/*/bin/*)
  run(patchelf --set-rpath "$ORIGIN/../lib/streamscope" ${programs})
  file(GLOB libraries ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/carried/*/lib/streamscope/*)
  run(patchelf --set-rpath $ORIGIN ${libraries})
endfunction()

file(GLOB_RECURSE objects LIST_DIRECTORIES OFF ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
list(FILTER objects INCLUDE REGEX "/bin/|/lib/[^/]*$")  # reports name the source lines of the demos
foreach(object ${objects})
  if(NOT IS_SYMLINK ${object})
    run(strip --strip-unneeded ${object})
  endif()
endforeach()
if(CPACK_GENERATOR STREQUAL DEB)
  foreach(component ${CPACK_COMPONENTS_ALL})
    finish_debian(${component})
  endforeach()
else()
  finish_archive()
endif()
