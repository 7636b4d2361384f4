# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Fails if a page of docs/ is not what the program that produces it prints now.
#   cmake -DTOOL=... [-DARGUMENT=...] -DDOC=... -P tests/support/check_produced_doc.cmake
cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${TOOL} ${ARGUMENT} OUTPUT_VARIABLE current COMMAND_ERROR_IS_FATAL ANY)
file(READ ${DOC} stored)
if(NOT current STREQUAL stored)
  message(FATAL_ERROR "${DOC} is not current; run: cmake --build build --target update-docs")
endif()
