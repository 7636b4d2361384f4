#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
"""Every function of the driver that takes or returns a stream, an event, a graph or a context is traced, followed, or excused.

  check_wrapped.py ROOT CUDA_INCLUDE
"""

import pathlib
import re
import sys

HANDLES = re.compile(r"\b(CUstream|CUevent|CUgraph|CUgraphExec|CUcontext|CUgreenCtx)\b")

# Excused: patterns of names, and why nothing is lost.
EXCUSED = {
    r"cu(Stream|Event|Ctx|Graph|GraphNode|GraphExec|GreenCtx)(Get|Is)\w*": "asks and changes nothing",
    r"cuStream(Copy|Set)Attributes?|cuStreamSetAttribute": "how a stream works, not what it waits for",
    r"cuStreamUpdateCaptureDependencies": "the graph is read when it is instantiated",
    r"cuGraph(Add|Remove|Create|Clone|Debug|NodeFind|NodeSet|Retain|Release|Kernel|Memcpy|Memset|Host|Child|Event|ExternalSemaphores|BatchMemOp|Mem)\w*|cuGraphExec\w+|cuGraphConditionalHandleCreate|cuUserObject\w*":
        "builds or changes a graph, which is read when it is instantiated",
    r"cuCtx(Create|SetCurrent|PopCurrent|PushCurrent|Attach|SetCacheConfig|SetFlags|SetSharedMemConfig|ResetPersistingL2Cache|EnablePeerAccess|DisablePeerAccess|FromGreenCtx)\w*|cuGreenCtxCreate|cuCtxFromGreenCtx":
        "a context is reported at the first call in it",
    r"cuDevicePrimaryCtxRetain|cuDevice(Graph|Get)\w*": "a context is reported at the first call in it",
    r"cuIpcGetEventHandle|cuEGL\w+|cuGL\w+|cuVDPAU\w+|cuGraphics\w+|cuTexRef\w+": "of another API, whose work is not on a stream, or exports a handle",
    r"cuLaunchGrid\w*|cuLaunch|cuLaunchGridAsync": "of CUDA 3, which current drivers refuse",
    r"cuMulticast\w+|cuMem(Map|Pool)\w+": "maps memory, which the trace has by address",
}


def main():
    root, include = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    traced = set(re.findall(r"^CALL_DRIVER\((\w+),", (root / "profiler/ring/calls.def").read_text(), re.MULTILINE))
    lookups = (root / "profiler/collect/interposed/lookups.cpp").read_text()
    followed = set(re.findall(r'STREAMSCOPE_FOLLOWED\("(\w+)"', lookups))

    def base(name):
        return re.sub(r"(_v\d+|_ptsz|_ptds)+$", "", name)

    known = {base(name) for name in traced | followed}
    header = (include / "cuda.h").read_text(errors="replace")
    functions = re.findall(r"CUresult\s+CUDAAPI\s+(cu\w+)\s*\(([^;]*?)\)\s*;", header, re.DOTALL)
    missing, excused, useless = [], 0, set(EXCUSED)
    for name, parameters in functions:
        if not HANDLES.search(parameters) or base(name) in known:
            continue
        reasons = [pattern for pattern in EXCUSED if re.fullmatch(pattern, base(name))]
        if reasons:
            excused += 1
            useless -= set(reasons)
        else:
            missing.append(name)
    for name in sorted(set(missing)):
        print(f"{name}: takes or returns a stream, an event, a graph or a context; trace it in profiler/ring/calls.def, or excuse it "
              f"in {pathlib.Path(__file__).name} with the reason")
    for pattern in sorted(useless):
        print(f"{pattern}: excuses no function of this cuda.h")
    print(f"{len(functions)} functions in cuda.h, {len(known)} traced or followed, {excused} excused")
    return 1 if missing or useless or len(functions) < 300 else 0


sys.exit(main())
