# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(job LABELS unit SOURCES job/simulated_job.cpp LINK streamscope::job streamscope_test_support)
streamscope_bench(job LINK streamscope::job)
streamscope_names(SOURCES job/summarize_test.cpp NAMES STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
