// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the analysis of a job keeps of the summaries of its ranks, which it takes one by one: steps
// in compact columns, so that 100,000 ranks fit into memory. A step is a rank's own work and the
// collective, or the end of an iteration, that had to wait for it.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>

#include "files/clock_offsets.h"
#include "files/rank_summary.h"

namespace streamscope::job {

inline constexpr uint32_t kNone = UINT32_MAX;

/// By analysis::TimeShare, in ns: precise enough for parts of an iteration, half the size.
using CompactShares = std::array<float, analysis::kShareCount>;

struct RankRow {
  RankIdentity identity;
  std::string incomplete;
  bool on_clock_of_host = false;         ///< else on one of its own
  Ns shift_ns = 0;                       ///< from the times of its trace to those of Steps
  Ns first_call_ns = trace::kUnknownNs;  ///< of a collective, by the host, since `first_row` began
  uint32_t first_row = 0;                ///< in Steps::iterations
  uint32_t row_count = 0;
  IterationRange steady;  ///< as RankSummary::steady
};

/// One iteration of one rank. Its last step is its end.
struct IterationRow {
  uint32_t rank = 0;    ///< in Steps::ranks
  uint32_t number = 0;  ///< equal on all ranks
  uint32_t first_step = 0;
  uint32_t step_count = 0;
  Ns start_ns = 0;
  Ns end_ns = 0;
  Ns alone_ns = trace::kUnknownNs;  ///< as RankIteration::alone_ns
};

/// A communicator of the job; ranks know it by its name.
struct Communicator {
  std::string name;
  int32_t size = -1;  ///< ranks; -1: not known
};

/// By step, in the order in which the rank issues its collectives (by start where that is not
/// known). All times are of the clock of the rank's host, from an instant in the run.
struct Steps {
  Ns origin_ns = 0;            ///< Unix time of 0; 0: not known
  std::vector<RankRow> ranks;  ///< in the order of their numbers once all are added
  std::vector<IterationRow> iterations;
  std::vector<Communicator> communicators;
  std::vector<std::string> places;
  std::vector<ClockOffset> clock_offsets;  ///< measured by messages between hosts

  std::vector<uint32_t> row;           ///< its iteration
  std::vector<uint32_t> after;         ///< step on which its work depends; kNone: nothing earlier
  std::vector<uint32_t> queued_after;  ///< step before it on the same stream; kNone: none
  std::vector<Ns> work_ns;             ///< its rank's own work since `after`
  std::vector<CompactShares> shares;   ///< what the work was
  std::vector<float> host_ns;          ///< that the host took since the step before it; negative:
                                       ///< not known, as it waited for the device
  std::vector<float> device_ns;        ///< as Segment::device_ns; negative: not known
  std::vector<uint32_t> place;         ///< where most of it comes from; index into `places`
  std::vector<uint32_t> host_place;    ///< where most of the host's part comes from
  std::vector<Ns> start_ns, end_ns;    ///< of the collective; both that of an iteration's end
  std::vector<uint32_t> group;         ///< the steps of all ranks that are one collective
  std::vector<CollectiveKind> kind;    ///< kOther for the end of an iteration
  std::vector<uint64_t> bytes;
  std::vector<uint32_t> sequence;      ///< kNone: end of an iteration
  std::vector<uint32_t> communicator;  ///< kNone: end of an iteration
  std::vector<int32_t> peer;           ///< of a send or receive: rank of the job; -1: not known
  uint32_t group_count = 0;

  size_t count() const { return row.size(); }
  uint32_t rank_of(uint32_t step) const { return iterations[row[step]].rank; }
  int32_t rank_number(uint32_t step) const { return ranks[rank_of(step)].identity.rank; }
  bool ends_iteration(uint32_t step) const { return communicator[step] == kNone; }
  bool ran(uint32_t step) const {
    return start_ns[step] != trace::kUnknownNs && end_ns[step] != trace::kUnknownNs;
  }
};

/// "all-reduce 17 of tp0"
std::string name_of(const Steps& steps, uint32_t step);
/// "all-reduce of tp0"
std::string call_of(const Steps& steps, uint32_t step);

/// The iterations to compare where those that are steady on each rank have little in common: what
/// most ranks show.
std::optional<IterationRange> range_in_common(const Steps& steps);

/// Takes summaries in any order and joins their collectives by (communicator, sequence), sends with
/// receives by their order between two ranks in an iteration.
class StepReader {
 public:
  /// Takes the steady iterations of each rank, or else those of one range.
  explicit StepReader(std::optional<IterationRange> range = {}) : range_(range) {}
  /// Throws Error if the rank is not known, was there already, or an index in the summary points
  /// outside of it.
  void add(const RankSummary& summary);
  /// Ends the reading.
  Steps take();

 private:
  struct Message {
    uint32_t communicator;
    int32_t from, to;  // ranks there
    uint32_t iteration, ordinal;
    bool operator==(const Message&) const = default;
  };
  struct MessageHash {
    size_t operator()(const Message& message) const;
  };
  using Streams = std::unordered_map<uint32_t, uint32_t>;  // last step by stream

  void reserve_for(const RankSummary& first);
  uint32_t interned(std::unordered_map<std::string, uint32_t>& ids, const std::string& name);
  uint32_t group_of(const RankSummary& summary, const Collective& collective, uint32_t iteration,
                    std::vector<Message>& messages);
  void add_iteration(const RankSummary& summary, const RankIteration& iteration, Ns shift_ns,
                     uint32_t number, uint32_t before, Streams& streams);
  void push_work(const Segment& segment, uint32_t after);
  /// Peers become ranks of the job.
  void find_peers();
  /// Numbers groups by when they take place, so that what runs at one time lies together.
  void order_groups();

  std::optional<IterationRange> range_;
  Steps steps_;
  std::unordered_map<std::string, uint32_t> communicator_ids_, place_ids_;
  std::vector<uint32_t> communicators_, places_;  // of the summary being added
  std::unordered_map<uint64_t, uint32_t> collective_groups_;
  std::unordered_map<Message, uint32_t, MessageHash> message_groups_;
  std::unordered_map<int32_t, uint32_t> rank_rows_;
  std::vector<std::pair<uint64_t, int32_t>> members_;  // communicator and rank there; rank
};

}  // namespace streamscope::job
