# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Record how a program coordinates its CUDA streams, and see why they wait.

>>> import streamscope
>>> trace = streamscope.open("race.sqlite")
>>> trace.diagnosis()["iteration"]["bound"]
'kernels'
>>> trace.check()["result"]
'failed'

`open` reads a trace, `run` records another program, `record` a part of this process, and `step` and `steps` mark its
iterations. Tests use the fixture of `streamscope.pytest_plugin`; `streamscope.lightning` has a callback for PyTorch Lightning.
"""

from __future__ import annotations

# The command `streamscope` starts through this package, so it imports nothing until a name is used.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

    from .analysis import Page as Page
    from .error import Error as Error
    from .ranges import step as step, steps as steps
    from .recording import is_recorded as is_recorded, record as record, run as run
    from .trace import Trace as Trace, open as open

__version__ = "0.1.0"  # of everything: CMake reads this line (cmake/Version.cmake)

# The modules of the names above.
_MODULES = {
    "Error": "error",
    "Page": "analysis",
    "Trace": "trace",
    "is_recorded": "recording",
    "open": "trace",
    "record": "recording",
    "run": "recording",
    "step": "ranges",
    "steps": "ranges",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'streamscope' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module("." + _MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(_MODULES))
