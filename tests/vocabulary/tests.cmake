# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(vocabulary LABELS unit LINK streamscope::vocabulary)
