# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The collector's observer with a driver and a Sanitizer in miniature; it exists where nvcc does.
if(STREAMSCOPE_HAVE_CUDA AND STREAMSCOPE_NVCC)
  set(observed ${PROJECT_SOURCE_DIR}/profiler/collect/observed)
  streamscope_test(observed LABELS unit SOURCES observed/stand_in.cpp ${observed}/observer.cpp ${observed}/table.cpp
    ${observed}/table_reader.cpp LINK streamscope::ring streamscope::collect_decode streamscope::cuda_headers)
  target_compile_definitions(observed_test PRIVATE COLLECT_CUBINS="${CMAKE_BINARY_DIR}/tests/cubins")
  add_dependencies(observed_test collect_cubins)
endif()
