# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
streamscope_test(report LABELS unit golden LINK streamscope::report streamscope_perfetto_proto streamscope_test_support nlohmann_json::nlohmann_json)
streamscope_golden(report_test)
streamscope_bench(report LINK streamscope::report streamscope::analysis streamscope::trace)
