// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The data of HappensBefore: chains, their joins, and clocks. Filled by happens_before_walk.cpp,
// queried by happens_before.cpp, private to both.
#pragma once

#include <deque>
#include <unordered_map>

#include "clock_pool.h"
#include "graph_nodes.h"
#include "happens_before.h"

namespace streamscope::analysis {

using ChainId = uint32_t;
using Version = uint32_t;  // how many joins of a chain are known

// What was known at a position: the clock of a chain, its newest op, and its number of joins.
struct Snapshot {
  ClockPool::Ref clock = ClockPool::kNone;
  ChainId chain = kNoId;
  Position position = -1;
  Version version = 0;
  // The clock of the first chain that joined it: later ones often have the same clock.
  ClockPool::Ref joined = ClockPool::kNone;
};

// Knowledge from another chain: ops after position `at` have it.
struct Join {
  Position at;
  ChainId from;
  Position from_position;
  Version from_version;
  Id cause;  // event_wait, host_sync or op, by kind
  uint8_t kind;
  bool copy;  // kHostEdge: the cause is a synchronous copy
};

// A stream, a thread, a context as a whole, or all threads together. Streams come first; they alone
// have ops and an entry in the clocks.
struct Chain {
  ClockPool::Ref clock = ClockPool::kNothing;
  Position position = -1;  // newest op
  std::deque<Join> joins;  // many chains grow at once: a deque does not move its elements
};

// The position of an op.
struct Standing {
  ChainId chain = kNoId;                    // kNoId: not placed
  Position position = -1;                   // nodes of one graph launch share theirs
  ClockPool::Ref clock = ClockPool::kNone;  // kNone: not kept
};

struct HappensBefore::Impl {
  Impl(const IssueOrder& order, Options options);

  class ClockWalk;  // fills it
  bool reaches(ChainId chain, Version version, ChainId from, Position position,
               std::vector<Hop>* path) const;
  Version version_before(ChainId chain, Position position) const;
  // What a thread knew when a call returned.
  struct Return {
    Ns at_ns;
    Version version;
    ClockPool::Ref clock;
  };
  bool known(ChainId thread, const std::vector<Return>& returns, Version version,
             const Point& point) const;

  std::vector<Standing> ops;
  std::unordered_map<Id, Point> memory_points;  // by api_call
  std::vector<Id> stream_of_chain;              // streams only
  std::vector<Chain> chains;
  std::vector<Version> sync_version;
  std::vector<bool> redundant_wait, redundant_sync;
  std::vector<std::vector<Return>> returns;  // per thread, in order of return
  std::vector<Return> host_returns;          // observed relation: what all threads together knew
  std::vector<Id> sync_thread;
  ChainId first_thread = 0, host = 0;
  std::unique_ptr<ClockPool> clocks;
  size_t stream_chains = 0;
  bool all_kept = true;
  GraphNodes graph_nodes;
  std::vector<Id> op_node;  // graph_node of an op, empty if there are no graphs
};

}  // namespace streamscope::analysis
