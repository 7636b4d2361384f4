# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Finds the headers of the CUDA toolkit. Nothing of it is linked: libcuda and libcupti are loaded at run time.
#   STREAMSCOPE_HAVE_CUDA      headers of CUDA, CUPTI and NVTX were found and are wanted
#   streamscope::cuda_headers  their include path
#   STREAMSCOPE_NVCC           nvcc, or empty; needed for the programs in tests/apps only

set(STREAMSCOPE_HAVE_CUDA OFF)
set(STREAMSCOPE_NVCC "")
add_library(streamscope_cuda_headers INTERFACE)
add_library(streamscope::cuda_headers ALIAS streamscope_cuda_headers)

if(NOT STREAMSCOPE_CUDA STREQUAL "OFF")
  find_path(STREAMSCOPE_CUDA_INCLUDE_DIR cupti.h
    HINTS ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda /usr/local/cuda/extras/CUPTI /usr/lib/cuda
    PATH_SUFFIXES include targets/x86_64-linux/include targets/sbsa-linux/include)
  if(STREAMSCOPE_CUDA_INCLUDE_DIR AND EXISTS ${STREAMSCOPE_CUDA_INCLUDE_DIR}/cuda.h
     AND EXISTS ${STREAMSCOPE_CUDA_INCLUDE_DIR}/nvtx3/nvToolsExt.h)
    set(STREAMSCOPE_HAVE_CUDA ON)
    target_include_directories(streamscope_cuda_headers SYSTEM INTERFACE ${STREAMSCOPE_CUDA_INCLUDE_DIR})
    find_program(STREAMSCOPE_NVCC_PROGRAM nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(STREAMSCOPE_NVCC_PROGRAM)
      set(STREAMSCOPE_NVCC ${STREAMSCOPE_NVCC_PROGRAM})
    endif()
  elseif(STREAMSCOPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "STREAMSCOPE_CUDA is ON, but cuda.h, cupti.h and nvtx3/nvToolsExt.h were not found together; "
                        "set CUDA_HOME or STREAMSCOPE_CUDA_INCLUDE_DIR")
  endif()
endif()
message(STATUS "CUDA headers: ${STREAMSCOPE_HAVE_CUDA} ${STREAMSCOPE_CUDA_INCLUDE_DIR}")
