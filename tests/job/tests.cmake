# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
streamscope_test(job LABELS unit SOURCES job/simulated_job.cpp job/pipeline_trace.cpp
  LINK streamscope::job streamscope::import streamscope_test_support
    nlohmann_json::nlohmann_json simdjson::simdjson ZLIB::ZLIB fmt::fmt $<TARGET_NAME_IF_EXISTS:streamscope_otf2_archive>)
# Optimized: it simulates a thousand ranks.
set_source_files_properties(job/simulated_job.cpp PROPERTIES COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
streamscope_names(SOURCES job/summarize_test.cpp NAMES STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
streamscope_names(SOURCES job/public_job_test.cpp NAMES STREAMSCOPE_LATEST_RANK="${CMAKE_CURRENT_SOURCE_DIR}/job/latest_rank.py")
streamscope_bench(summary LINK streamscope::job)
streamscope_bench(ranks LINK streamscope::job)
