# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
if(STREAMSCOPE_HAVE_VIEWER)
  streamscope_test(viewer LABELS unit LINK streamscope::viewer streamscope_test_support)
  target_compile_definitions(viewer_test PRIVATE STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
  streamscope_bench(viewer LINK streamscope::viewer streamscope_test_support)
endif()
