# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The libraries of a build for the web, from the sources that viewer/web/sources.sh fetches: find_package() of the rest of
# the build finds these.
set(STREAMSCOPE_WEB_SOURCES ${CMAKE_BINARY_DIR}/sources CACHE PATH "What viewer/web/sources.sh fetched")
if(NOT EXISTS ${STREAMSCOPE_WEB_SOURCES}/complete)
  message(FATAL_ERROR "${STREAMSCOPE_WEB_SOURCES} lacks the sources: run viewer/web/sources.sh ${STREAMSCOPE_WEB_SOURCES}")
endif()

option(STREAMSCOPE_WEB_THREADS "A program with threads, for pages that a server isolates; everything is compiled with -pthread" OFF)

set(BUILD_SHARED_LIBS OFF)
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # options of the libraries are set by variables
function(streamscope_web_sqlite3)
  add_library(sqlite3 STATIC ${STREAMSCOPE_WEB_SOURCES}/sqlite3/sqlite3.c)
  target_include_directories(sqlite3 SYSTEM PUBLIC ${STREAMSCOPE_WEB_SOURCES}/sqlite3)
  # As in Debian's package, but for what needs other libraries or a writable disk; with one call for each read.
  target_compile_definitions(sqlite3 PRIVATE SQLITE_THREADSAFE=$<BOOL:${STREAMSCOPE_WEB_THREADS}> USE_PREAD
    SQLITE_OMIT_LOAD_EXTENSION SQLITE_ENABLE_COLUMN_METADATA SQLITE_ENABLE_DBSTAT_VTAB SQLITE_ENABLE_MATH_FUNCTIONS)
  target_compile_options(sqlite3 PRIVATE -w)
  add_library(SQLite::SQLite3 ALIAS sqlite3)
endfunction()

function(streamscope_web_fmt)
  add_subdirectory(${STREAMSCOPE_WEB_SOURCES}/fmtlib ${CMAKE_BINARY_DIR}/fmt EXCLUDE_FROM_ALL SYSTEM)
endfunction()

function(streamscope_web_nlohmann_json)
  add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED GLOBAL)
  target_include_directories(nlohmann_json::nlohmann_json SYSTEM INTERFACE ${STREAMSCOPE_WEB_SOURCES}/include)
endfunction()

function(streamscope_web_cli11)
  add_library(CLI11::CLI11 INTERFACE IMPORTED GLOBAL)
  target_include_directories(CLI11::CLI11 SYSTEM INTERFACE ${STREAMSCOPE_WEB_SOURCES}/include)
endfunction()

function(streamscope_web_protobuf)
  set(protobuf_BUILD_TESTS OFF)
  set(protobuf_BUILD_PROTOC_BINARIES OFF)
  set(protobuf_BUILD_LIBUPB OFF)
  set(protobuf_WITH_ZLIB OFF)
  set(protobuf_INSTALL OFF)
  add_subdirectory(${STREAMSCOPE_WEB_SOURCES}/protobuf ${CMAKE_BINARY_DIR}/protobuf EXCLUDE_FROM_ALL SYSTEM)
  target_compile_options(libprotobuf-lite PRIVATE -w)
endfunction()

# The desktop's modules under the names that pkg-config gives them; GLFW and GL are Emscripten's own.
function(streamscope_web_webwindow)
  set(FT_DISABLE_ZLIB ON)
  set(FT_DISABLE_BZIP2 ON)
  set(FT_DISABLE_PNG ON)
  set(FT_DISABLE_HARFBUZZ ON)
  set(FT_DISABLE_BROTLI ON)
  set(SKIP_INSTALL_ALL ON)
  add_subdirectory(${STREAMSCOPE_WEB_SOURCES}/freetype ${CMAKE_BINARY_DIR}/freetype EXCLUDE_FROM_ALL SYSTEM)
  foreach(module glfw3 gl egl freetype2)
    add_library(PkgConfig::STREAMSCOPE_${module} INTERFACE IMPORTED GLOBAL)
  endforeach()
  target_link_libraries(PkgConfig::STREAMSCOPE_freetype2 INTERFACE freetype)
  set(IMGUI_DIR ${STREAMSCOPE_WEB_SOURCES}/imgui CACHE PATH "" FORCE)
  set(STREAMSCOPE_STB_INCLUDE_DIR ${STREAMSCOPE_WEB_SOURCES}/include/stb CACHE PATH "" FORCE)
endfunction()

# Messages are compiled by the machine's own compiler, which must be of the version of the sources.
function(protobuf_generate)
  cmake_parse_arguments(arg "" "TARGET" "" ${ARGN})
  find_program(PROTOC protoc REQUIRED)
  get_target_property(sources ${arg_TARGET} SOURCES)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(folder ${source} DIRECTORY)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${folder}/${name})
    add_custom_command(OUTPUT ${output}.pb.cc ${output}.pb.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${folder}
      COMMAND ${PROTOC} --cpp_out=${CMAKE_CURRENT_BINARY_DIR} -I${CMAKE_CURRENT_SOURCE_DIR} ${path}
      DEPENDS ${path} VERBATIM)
    target_sources(${arg_TARGET} PRIVATE ${output}.pb.cc)
  endforeach()
  target_compile_options(${arg_TARGET} PRIVATE -w)
endfunction()

macro(streamscope_web_dependency method name)
  string(TOLOWER ${name} streamscope_web_lower)
  if(COMMAND streamscope_web_${streamscope_web_lower})
    get_property(streamscope_web_known GLOBAL PROPERTY streamscope_web_${streamscope_web_lower})
    if(NOT streamscope_web_known)
      set_property(GLOBAL PROPERTY streamscope_web_${streamscope_web_lower} TRUE)
      cmake_language(CALL streamscope_web_${streamscope_web_lower})
    endif()
    set(${name}_FOUND TRUE)
  endif()
endmacro()
cmake_language(SET_DEPENDENCY_PROVIDER streamscope_web_dependency SUPPORTED_METHODS FIND_PACKAGE)
