# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The program `streamscope` as a module: python -m streamscope ARGUMENTS."""

from .program import main

if __name__ == "__main__":
    main()
