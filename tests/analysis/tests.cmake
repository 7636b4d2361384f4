# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(analysis LABELS unit LINK streamscope::analysis streamscope_test_support)
