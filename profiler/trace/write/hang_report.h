// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Why a program hangs, as the analysis explains it and as the tables hang, hang_node and hang_edge
// store it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "writer.h"

namespace streamscope::trace {

struct HangReport {
  struct Node {
    HangNodeKind kind = kHangOutside;
    Id object = kNoId;  ///< row of the table that `kind` names
    std::string name;
    bool in_cycle = false;
    Id stack = kNoId;
  };
  struct Edge {
    size_t from = 0, to = 0;  ///< of `nodes`
    HangEdgeKind kind = kNeedsAll;
    std::string reason;
  };

  std::string verdict;   ///< kebab-case
  std::string headline;  ///< one line
  std::string text;      ///< headline and all details, several lines
  bool alarm = false;    ///< false: nothing indicates that the program will not continue
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// False for the verdicts that report no problem: "alive" and "idle".
bool is_alarm(std::string_view verdict);

/// Adds the rows of a report; returns its row in table hang.
Id append_hang(Writer& writer, Id process, Ns at, const HangReport& report);

}  // namespace streamscope::trace
