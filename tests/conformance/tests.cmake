# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
streamscope_test(conformance LABELS conformance coord SOURCES conformance/backends.cpp LINK streamscope::coord)
