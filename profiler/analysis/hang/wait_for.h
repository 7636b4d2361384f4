// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The wait-for graph of a trace that ended with calls that never returned: what was pending, what
// it waited for, and what could never have continued.
//
// A node needs all of some nodes (stream order, events, the legacy stream, synchronization) and one
// of others (any write that satisfies a memory wait). Work is assumed to end once it can run; what
// is then never released is stuck, as in the deadlock detection of MUST. Streams, events and host
// synchronizations alone cannot form a cycle: a cycle needs memory waits. See docs/analysis.md.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "analysis/order/happens_before.h"

namespace streamscope::analysis {

/// True for calls that wait for all work of the device (measured on an H200): freeing device or
/// pinned memory, loading modules, setting limits.
bool waits_for_device(const Trace& trace, Id api_call);

/// Immutable; keeps references to the order and its trace. Empty, at no cost, for processes whose
/// calls all returned. Otherwise built in O(pending items + streams^2 log items).
class WaitFor {
 public:
  using Index = uint32_t;
  static constexpr Index kNone = UINT32_MAX;
  /// A row of op, event_record, event_wait, host_sync, api_call or thread. Calls are those in which
  /// a thread is blocked; threads are those that were outside of any call.
  enum class Kind : uint8_t { kOp, kRecord, kWait, kSync, kCall, kThread };
  enum class Why : uint8_t {
    kStreamOrder,
    kEvent,
    kLegacyStream,
    kMemory,       ///< needs one such node: a write
    kNotIssued,    ///< no write was issued; this thread issued the previous one
    kSynchronize,  ///< a host call that waits for it
    kDevice,       ///< a host call that waits for all work on the device, as cudaFree does
    kQueueFull,    ///< a call that issues work to a full stream; waits for the first item queued
    kContext,      ///< a call that needs what a call of another thread holds in the driver
    kLock,         ///< a thread that waits for the owner of a mutex
    kRunsIn,       ///< a host function that runs in a thread
  };
  struct Node {
    Kind kind;
    bool stuck = false;  ///< never released
    Id id = kNoId;
    Id stream = kNoId;  ///< kNoId for calls

    /// True for calls and threads.
    bool on_host() const {
      return kind == Kind::kSync || kind == Kind::kCall || kind == Kind::kThread;
    }
  };
  struct Link {
    Index to;
    Why why;
  };
  struct Step {
    Index node;
    Why why;  ///< why it waits for the node of the next step
  };
  /// A call that never returned, polling that never succeeds, or a wait for a mutex.
  struct Blocked {
    Index node;
    Id thread;
    Ns held_ns;   ///< from its entry to the end of its process, or of the trace
    bool proved;  ///< the simulated device reported that it could never return
  };

  WaitFor(const IssueOrder& order, const HappensBefore& guaranteed);

  /// True where ops of the process that have no node are known to have ended.
  bool covers(Id process) const { return process < covered_.size() && covered_[process]; }
  const Node& node(Index index) const { return nodes_[index]; }
  size_t size() const { return nodes_.size(); }
  std::span<const Link> links(Index index) const { return links_[index]; }
  /// Calls blocked so long that something is wrong.
  const std::vector<Blocked>& blocked() const { return blocked_; }

  /// One shortest cycle of every knot that blocks a call; the last step waits for the first.
  std::vector<std::vector<Step>> cycles() const;
  /// Memory waits that block a call and that no write in the trace satisfies.
  std::vector<Index> lost_signals() const;
  /// What a blocked call that is not stuck waits for: ops that could run and did not end, threads.
  std::vector<Index> running(const Blocked& call) const;
  /// The same as if those ops had ended that a function says.
  using HasEnded = std::function<bool(Id op)>;
  std::vector<Index> running(const Blocked& call, const HasEnded& has_ended) const;
  /// Of everything that is pending.
  std::vector<Index> running(const HasEnded& has_ended) const;
  /// How many nodes wait for this one, directly or not.
  size_t held_by(Index index) const;

 private:
  class Builder;
  void release();
  std::vector<Index> running_among(const std::vector<bool>& reached,
                                   const HasEnded& has_ended) const;
  std::vector<bool> reachable_from_blocked() const;

  std::vector<bool> covered_;  // by process
  std::vector<Node> nodes_;
  std::vector<std::vector<Link>> links_;
  std::vector<Blocked> blocked_;
  std::vector<Index> tails_;  // the last node of each stream of processes that were sampled hung
  std::map<Id, Index> thread_nodes_;
  std::vector<bool> unsatisfied_;  // memory waits that need one of their links
  std::vector<Index> released_;    // in a possible order
};

}  // namespace streamscope::analysis
