# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""As much of pandas as LANfactory's trainer uses."""


class DataFrame:
    def __init__(self, values, columns):
        self.values, self.columns = values, columns
