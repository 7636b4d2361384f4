#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""The reader's own program, whatever its name and arguments: the pipeline example on the simulated device."""

import os

if "BUILD" in os.environ:
    pipeline = os.environ["BUILD"] + "/bin/examples/pipeline"
else:  # that of the wheel
    import streamscope

    pipeline = os.path.join(os.path.dirname(streamscope.__file__), "native/libexec/streamscope/pipeline")
os.execv(pipeline, [pipeline, "--device", "sim"])
