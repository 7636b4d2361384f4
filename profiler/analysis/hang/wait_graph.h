// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a wait-for graph that fits into a picture: the calls that hang, the cycles and what
// lies between, each with its position. Drawn by the viewer and the HTML report.
#pragma once

#include <string_view>
#include <vector>

#include "wait_for.h"

namespace streamscope::analysis {

/// An arrow leads from the waiter to what it waits for.
struct WaitGraph {
  struct Node {
    WaitFor::Kind kind = WaitFor::Kind::kCall;
    Id id = kNoId;
    Id stream = kNoId, thread = kNoId;
    bool stuck = false, in_cycle = false, blocked = false;
    Ns held_ns = 0;  ///< of blocked calls
    /// The first cycle is a ring of two rows to the right of the calls that hang; the rest is
    /// below, ordered by distance from those calls.
    uint32_t column = 0, row = 0;
  };
  struct Link {
    uint32_t from = 0, to = 0;
    WaitFor::Why why = WaitFor::Why::kStreamOrder;
    bool in_cycle = false;
  };
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<std::vector<uint32_t>>
      cycles;                      ///< nodes; each waits for the next, the last for the first
  size_t left_out = 0;             ///< links to nodes that do not fit into the picture
  uint32_t columns = 0, rows = 0;  ///< of the grid
};

/// Empty if every call returned.
WaitGraph wait_graph(const WaitFor& waits);
std::string_view to_string(WaitFor::Why why);  ///< "stream order", "event", ...

}  // namespace streamscope::analysis
