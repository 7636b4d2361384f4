# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(simdjson REQUIRED)
find_package(Python3 COMPONENTS Interpreter)
streamscope_test(import LABELS unit
  LINK streamscope::import streamscope::trace streamscope::ring SQLite::SQLite3 ZLIB::ZLIB
    $<TARGET_NAME_IF_EXISTS:streamscope_otf2_archive>)
streamscope_bench(import LINK streamscope::import streamscope::trace simdjson::simdjson SQLite::SQLite3)

# Profiles that other people published, counted a second time by code that shares nothing with the importers.
if(Python3_FOUND AND TARGET streamscope AND NOT STREAMSCOPE_SANITIZE)
  add_test(NAME import.corpus
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/import/corpus.py $<TARGET_FILE:streamscope>)
  add_test(NAME import.hta_paths
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/import/hta_paths.py $<TARGET_FILE:streamscope>)
  set_tests_properties(import.corpus import.hta_paths PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
