# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Fails if docs/trace-format.md is not what the schema says now.
#   cmake -DTOOL=... -DDOC=... -P tests/trace/check_format_doc.cmake
cmake_minimum_required(VERSION 3.24)

execute_process(COMMAND ${TOOL} OUTPUT_VARIABLE current COMMAND_ERROR_IS_FATAL ANY)
file(READ ${DOC} stored)
if(NOT current STREQUAL stored)
  message(FATAL_ERROR "${DOC} is not current; run: cmake --build build --target update-docs")
endif()
