# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
streamscope_test(job_files LABELS unit LINK streamscope::job_files nlohmann_json::nlohmann_json fmt::fmt)
