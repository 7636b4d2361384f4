# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
if(STREAMSCOPE_HAVE_VIEWER)
  find_package(nlohmann_json REQUIRED)
  find_package(fmt REQUIRED)
  streamscope_test(viewer LABELS unit SOURCES job/simulated_job.cpp
    LINK streamscope::viewer streamscope::import streamscope_test_support nlohmann_json::nlohmann_json fmt::fmt)
  streamscope_names(SOURCES viewer/holders_test.cpp viewer/trace_facts_test.cpp viewer/view_test.cpp
    NAMES STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
  streamscope_bench(viewer LINK streamscope::viewer streamscope_test_support)
endif()
