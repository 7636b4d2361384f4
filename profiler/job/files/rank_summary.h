// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What one rank of a job did, in a few KB per iteration: its collectives, and what it did between
// them. Made from a trace on the node where that lies; everything about a job is computed from the
// summaries of its ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/iterations/time_share.h"
#include "trace/model.h"
#include "vocabulary/collective_kind.h"

namespace streamscope::job {

using trace::Ns;

/// Who it is, as the process itself said.
struct RankIdentity {
  int32_t rank = -1;        ///< -1: not known
  int32_t world_size = -1;  ///< ranks of the job; -1: not known
  int32_t local_rank = -1;  ///< on its host; -1: not known
  std::string host;
  std::string gpu;      ///< UUID of the device; "" if it used none or several
  std::string told_by;  ///< where the rank was read: "RANK", "OMPI_COMM_WORLD_RANK", "kineto", ...
  std::string trace;    ///< file name of its trace in the folder of the run

  bool operator==(const RankIdentity&) const = default;
};

/// One collective, or a send or receive, as this rank took part in it. Ranks are joined by
/// (communicator, sequence), sends with receives by their order between two ranks, never by times.
struct Collective {
  uint32_t communicator = 0;  ///< index into RankSummary::communicators
  uint32_t sequence = 0;  ///< in its communicator, from 0, in the order in which the rank issues;
                          ///< sends and receives are counted apart
  CollectiveKind kind = CollectiveKind::kOther;
  uint64_t bytes = 0;   ///< that this rank contributes; 0: not known
  int32_t peer = -1;    ///< of a send or receive: rank in the communicator; -1: not known
  uint32_t stream = 0;  ///< equal numbers run in order; trace::kNoId: on the host, where
                        ///< messages may wait for each other
  Ns issued_ns = trace::kUnknownNs;  ///< when the host called it
  Ns start_ns = trace::kUnknownNs;   ///< when it began on the device; unknown: it never did
  Ns end_ns = trace::kUnknownNs;     ///< when it ended there; unknown: it never did

  bool operator==(const Collective&) const = default;
};

/// The rank's own work that a collective, or the end of the iteration, had to wait for: its local
/// critical path, back to the collective or the start of the iteration on which that work depends.
struct Segment {
  int32_t after = -1;  ///< index of the earlier collective it depends on; -1: the iteration's start
  analysis::Shares shares{};  ///< what the time went into; sums to its length
  uint32_t place = 0;         ///< index into RankSummary::places: where most of it comes from
  uint32_t host_place = 0;    ///< the same of the host's part alone
  /// What the host took from its call of the collective before, or from the start of the iteration,
  /// to this call, or to the start of the next iteration. Unknown if it waited for the device
  /// meanwhile.
  Ns host_ns = trace::kUnknownNs;
  /// How long the rank's work on devices takes that the host issues in that time, added up; it may
  /// run beside collectives. Unknown if only the path is known.
  Ns device_ns = trace::kUnknownNs;

  bool operator==(const Segment&) const = default;
};

struct RankIteration {
  Ns start_ns = 0;  ///< the end of the one before
  Ns end_ns = 0;
  std::vector<Collective> collectives;  ///< by start; those without one last
  std::vector<Segment> segments;        ///< before each collective; one more before the end
  /// In which collectives ran and no other work of the rank did on a device. Unknown if only the
  /// path is known.
  Ns alone_ns = trace::kUnknownNs;

  bool operator==(const RankIteration&) const = default;
};

/// Numbers of iterations.
struct IterationRange {
  uint32_t from = 0, to = UINT32_MAX;

  bool contains(uint32_t number) const { return number >= from && number < to; }
  bool operator==(const IterationRange&) const = default;
};

/// A communicator as this rank is part of it.
struct Membership {
  std::string name;   ///< equal on all of its ranks
  int32_t size = -1;  ///< ranks; -1: not known
  int32_t rank = -1;  ///< of this rank, there; -1: not known

  bool operator==(const Membership&) const = default;
};

/// Its rank in the communicator: where nobody says so, that of the job if all ranks are in it.
int32_t rank_in(const Membership& membership, const RankIdentity& self);

/// All times are those of its trace.
struct RankSummary {
  RankIdentity identity;
  Ns clock_start_ns = 0;  ///< instant 0 of its times on the clock of its host; 0: not known
  std::vector<Membership> communicators;
  std::vector<std::string> places;        ///< 0: ""; source lines, kernels
  uint32_t first_iteration = 0;           ///< number of the first one, equal on all ranks
  std::vector<RankIteration> iterations;  ///< in order, also those around the steady part
  IterationRange steady;                  ///< the steady part, as this rank alone shows it
  std::string incomplete;                 ///< why something is missing; "" if nothing is

  bool operator==(const RankSummary&) const = default;
};

/// "all-reduce 17 of tp0"
std::string name_of(const RankSummary& summary, const Collective& collective);

}  // namespace streamscope::job
