# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(analysis LABELS unit LINK streamscope::analysis streamscope_test_support)
streamscope_names(SOURCES analysis/planted_causes_test.cpp NAMES STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
streamscope_bench(analysis LINK streamscope::analysis)
streamscope_produced_doc(detectors detectors_doc ${PROJECT_SOURCE_DIR}/profiler/analysis/detectors)
