// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A job of a few ranks and one communicator, written down call by call: every rank works, then all
// take part in a collective, one iteration after the other.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "job/steps.h"

namespace streamscope::job {

/// Adds to all times of a summary.
inline void shift(RankSummary& summary, Ns by_ns) {
  for (RankIteration& iteration : summary.iterations) {
    iteration.start_ns += by_ns;
    iteration.end_ns += by_ns;
    for (Collective& collective : iteration.collectives) {
      collective.issued_ns += by_ns;
      collective.start_ns += by_ns;
      collective.end_ns += by_ns;
    }
  }
}

class SmallJob {
 public:
  explicit SmallJob(int ranks) : summaries(ranks), now_(ranks, 0), pending_(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      RankSummary& summary = summaries[rank];
      summary.identity.rank = rank;
      summary.identity.world_size = ranks;
      summary.communicators = {{"dp0", ranks, rank}};
      summary.places = {"", "train.py:1"};
      summary.iterations.emplace_back();
    }
  }

  /// Work of one rank that its next collective waits for.
  void work(int rank, Ns length, analysis::TimeShare share = analysis::TimeShare::kKernels,
            uint32_t place = 1) {
    pending_[rank].shares[static_cast<size_t>(share)] += length;
    pending_[rank].place = place;
    now_[rank] += length;
  }
  void all_reduce(Ns length = 10) {
    std::vector<int> all(summaries.size());
    for (size_t rank = 0; rank < all.size(); ++rank) all[rank] = static_cast<int>(rank);
    together(all, length, CollectiveKind::kAllReduce, CollectiveKind::kAllReduce);
  }
  void message(int from, int to, Ns length = 10) {
    together({from, to}, length, CollectiveKind::kSend, CollectiveKind::kReceive);
  }
  void end_iteration() {
    for (RankSummary& summary : summaries) {
      finish(summary);
      const Ns now = now_[summary.identity.rank];
      summary.iterations.push_back({now, now, {}, {}});
    }
  }

  Collective& collective(int rank, int index) {
    return summaries[rank].iterations.back().collectives[index];
  }
  /// With the iteration that has begun, if anything was called in it.
  std::vector<RankSummary> complete() const {
    SmallJob copy = *this;
    for (RankSummary& summary : copy.summaries) {
      const RankIteration& last = summary.iterations.back();
      if (last.collectives.empty() && last.segments.empty()) {
        summary.iterations.pop_back();
      } else if (last.segments.size() == last.collectives.size()) {
        copy.finish(summary);
      }
    }
    return copy.summaries;
  }
  Steps steps() const { return steps_of(complete()); }

  static Steps steps_of(const std::vector<RankSummary>& summaries) {
    StepReader reader;
    for (const RankSummary& summary : summaries) reader.add(summary);
    return reader.take();
  }

  std::vector<RankSummary> summaries;

 private:
  void finish(RankSummary& summary) {
    RankIteration& iteration = summary.iterations.back();
    end_segment(summary.identity.rank, iteration);
    iteration.end_ns = now_[summary.identity.rank];
  }
  void end_segment(int rank, RankIteration& iteration) {
    pending_[rank].after = static_cast<int32_t>(iteration.collectives.size()) - 1;
    iteration.segments.push_back(std::exchange(pending_[rank], {}));
  }
  void together(const std::vector<int>& members, Ns length, CollectiveKind first,
                CollectiveKind others) {
    Ns last = 0;
    for (int rank : members) last = std::max(last, now_[rank]);
    for (int rank : members) {
      RankIteration& iteration = summaries[rank].iterations.back();
      end_segment(rank, iteration);
      Collective collective;
      collective.kind = rank == members[0] ? first : others;
      collective.sequence = static_cast<uint32_t>(sequence_);
      if (is_message(first)) {
        collective.peer = rank == members[0] ? members[1] : members[0];
        collective.sequence = 0;
      }
      collective.bytes = 1024;
      collective.issued_ns = collective.start_ns = now_[rank];
      collective.end_ns = now_[rank] = last + length;
      iteration.collectives.push_back(collective);
    }
    if (!is_message(first)) ++sequence_;
  }

  std::vector<Ns> now_;
  std::vector<Segment> pending_;
  int sequence_ = 0;
};

}  // namespace streamscope::job
