// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of nodes of CUDA graphs.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// CUDA's numbers (CUgraphNodeType), those that are named. Stored in traces, in graph_node.kind.
enum GraphNodeKind : int32_t {
  kKernelNode = 0,
  kHostNode = 3,
  kAllocationNode = 10,
};

inline constexpr Term kGraphNodeKinds[] = {
    {kKernelNode, "kernel"},
    {1, "memcpy"},
    {2, "memset"},
    {kHostNode, "host"},
    {4, "child graph"},
    {5, "empty"},
    {6, "event wait"},
    {7, "event record"},
    {8, "semaphore signal"},
    {9, "semaphore wait"},
    {kAllocationNode, "memory allocation"},
    {11, "memory free"},
    {12, "batch of memory operations"},
    {13, "conditional"},
};

}  // namespace streamscope
