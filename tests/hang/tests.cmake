# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(hang LABELS unit LINK streamscope::coord streamscope::analysis streamscope_test_support)
