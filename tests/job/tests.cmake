# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(job LABELS unit LINK streamscope::job streamscope_test_support)
streamscope_bench(job LINK streamscope::job)
streamscope_names(SOURCES job/summarize_test.cpp NAMES STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
