# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# streamscope_fatbin(OUT SOURCE [OPTION...]): nvcc's code for all architectures that it knows, as a file.
execute_process(COMMAND ${STREAMSCOPE_NVCC} --list-gpu-code OUTPUT_VARIABLE known_gpus OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCHALL "[0-9]+" known_gpus "${known_gpus}")
set(gpu_code "")
foreach(number ${known_gpus})
  list(APPEND gpu_code -gencode arch=compute_${number},code=sm_${number})
endforeach()

function(streamscope_fatbin out source)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/observed/*.h)
  add_custom_command(OUTPUT ${out}
    COMMAND ${STREAMSCOPE_NVCC} -fatbin -std=c++17 ${gpu_code} ${ARGN} -o ${out} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${headers}
    COMMENT "Compiling ${source} for all GPUs" VERBATIM)
endfunction()
