# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# streamscope_fatbin(OUT SOURCE [OPTION...]): nvcc's code for all architectures that it knows, as a file.
set(STREAMSCOPE_GPU_CODE "" CACHE INTERNAL "")
if(STREAMSCOPE_NVCC AND NOT STREAMSCOPE_GPU_CODE)
  execute_process(COMMAND ${STREAMSCOPE_NVCC} --list-gpu-code OUTPUT_VARIABLE known OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL "[0-9]+" known "${known}")
  set(code "")
  foreach(number ${known})
    list(APPEND code -gencode arch=compute_${number},code=sm_${number})
  endforeach()
  set(STREAMSCOPE_GPU_CODE "${code}" CACHE INTERNAL "")
endif()

function(streamscope_fatbin out source)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/observed/*.h)
  add_custom_command(OUTPUT ${out}
    COMMAND ${STREAMSCOPE_NVCC} -fatbin -std=c++17 ${STREAMSCOPE_GPU_CODE} ${ARGN} -o ${out} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${headers}
    COMMENT "Compiling ${source} for all GPUs" VERBATIM)
endfunction()
