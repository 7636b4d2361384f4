# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(job LABELS unit LINK streamscope::job streamscope_test_support)
