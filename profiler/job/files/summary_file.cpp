// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/summary_file.h"

#include <bit>
#include <iterator>
#include <utility>

#include "files/packed_summary.pb.h"
#include "packed_file.h"

namespace streamscope::job {
namespace {

using analysis::kShareCount;
using trace::kUnknownNs;

constexpr PackedKind kSummary{
    {'S', 'S', 'R', 'k'}, kSummaryVersion, "summary of a rank", "make it again from the trace"};
constexpr Ns kLatestNs = Ns{1} << 61;
constexpr auto kKindCount = static_cast<uint32_t>(std::size(kCollectiveKinds));

// Known times are less than 2^61 from 0, so that neither wraps.
Ns relative(Ns time, Ns base) { return time == kUnknownNs ? kUnknownNs : time - base; }

void put(const RankIteration& from, packed::Iteration& to) {
  to.set_start_ns(from.start_ns);
  to.set_end_ns(from.end_ns - from.start_ns);
  to.set_alone_ns(from.alone_ns);
  for (const Collective& one : from.collectives) {
    to.add_communicator(one.communicator);
    to.add_sequence(one.sequence);
    to.add_kind(static_cast<uint32_t>(one.kind));
    to.add_bytes(one.bytes);
    to.add_peer(one.peer);
    to.add_stream(one.stream);
    to.add_issued_ns(relative(one.issued_ns, from.start_ns));
    to.add_collective_start_ns(relative(one.start_ns, from.start_ns));
    to.add_collective_end_ns(relative(one.end_ns, from.start_ns));
  }
  for (const Segment& segment : from.segments) {
    to.add_after(segment.after);
    to.add_place(segment.place);
    to.add_host_place(segment.host_place);
    to.add_host_ns(segment.host_ns);
    to.add_device_ns(segment.device_ns);
    uint32_t which = 0;
    for (size_t i = 0; i < kShareCount; ++i) {
      if (segment.shares[i] == 0) continue;
      which |= uint32_t{1} << i;
      to.add_share_ns(segment.shares[i]);
    }
    to.add_shares(which);
  }
}

class Unpacker {
 public:
  Unpacker(const packed::Rank& from, const std::filesystem::path& origin)
      : from_(from), origin_(origin) {}

  RankSummary run() {
    result_.identity = {.rank = from_.rank(),
                        .world_size = from_.world_size(),
                        .local_rank = from_.local_rank(),
                        .host = from_.host(),
                        .gpu = from_.gpu(),
                        .told_by = from_.told_by(),
                        .trace = from_.trace()};
    require(from_.ranks_of_communicator_size() == from_.communicator_size() &&
            from_.rank_in_communicator_size() == from_.communicator_size());
    for (int i = 0; i < from_.communicator_size(); ++i)
      result_.communicators.push_back(
          {from_.communicator(i), from_.ranks_of_communicator(i), from_.rank_in_communicator(i)});
    result_.places.reserve(static_cast<size_t>(from_.place_size()) + 1);
    result_.places.emplace_back();
    result_.places.insert(result_.places.end(), from_.place().begin(), from_.place().end());
    result_.first_iteration = from_.first_iteration();
    result_.steady = {from_.steady_from(), from_.steady_to()};
    result_.incomplete = from_.incomplete();
    result_.clock_start_ns = from_.clock_start_ns();
    require(result_.clock_start_ns >= 0);
    result_.iterations.reserve(static_cast<size_t>(from_.iteration_size()));
    for (const packed::Iteration& one : from_.iteration()) take(one);
    return std::move(result_);
  }

 private:
  void require(bool holds) const {
    if (!holds) throw_damaged(kSummary, origin_);
  }

  Ns time(Ns relative, Ns base) const {
    if (relative == kUnknownNs) return kUnknownNs;
    require(relative > -2 * kLatestNs && relative < 2 * kLatestNs);
    return checked(base + relative);
  }
  Ns checked(Ns time) const {
    require(time > -kLatestNs && time < kLatestNs);
    return time;
  }

  void take(const packed::Iteration& from) {
    RankIteration to;
    to.start_ns = checked(from.start_ns());
    to.end_ns = time(from.end_ns(), to.start_ns);
    require(to.end_ns >= to.start_ns);
    to.alone_ns = time(from.alone_ns(), 0);
    require(to.alone_ns == kUnknownNs || to.alone_ns >= 0);
    take_collectives(from, to);
    take_segments(from, to);
    result_.iterations.push_back(std::move(to));
  }

  void take_collectives(const packed::Iteration& from, RankIteration& to) const {
    const int count = from.communicator_size();
    for (const int other : {from.sequence_size(), from.kind_size(), from.bytes_size(),
                            from.peer_size(), from.stream_size(), from.issued_ns_size(),
                            from.collective_start_ns_size(), from.collective_end_ns_size()})
      require(other == count);
    to.collectives.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      require(from.communicator(i) < result_.communicators.size() && from.kind(i) < kKindCount);
      const Ns start = time(from.collective_start_ns(i), to.start_ns);
      const Ns end = time(from.collective_end_ns(i), to.start_ns);
      require(end == kUnknownNs || (start != kUnknownNs && start <= end));
      to.collectives.push_back({.communicator = from.communicator(i),
                                .sequence = from.sequence(i),
                                .kind = static_cast<CollectiveKind>(from.kind(i)),
                                .bytes = from.bytes(i),
                                .peer = from.peer(i),
                                .stream = from.stream(i),
                                .issued_ns = time(from.issued_ns(i), to.start_ns),
                                .start_ns = start,
                                .end_ns = end});
    }
  }

  void take_segments(const packed::Iteration& from, RankIteration& to) const {
    const int count = from.after_size();
    require(static_cast<size_t>(count) == to.collectives.size() + 1 && from.place_size() == count &&
            from.host_place_size() == count && from.host_ns_size() == count &&
            from.device_ns_size() == count && from.shares_size() == count);
    to.segments.resize(static_cast<size_t>(count));
    int next = 0;
    for (int i = 0; i < count; ++i) {
      Segment& segment = to.segments[static_cast<size_t>(i)];
      segment.after = from.after(i);
      segment.place = from.place(i);
      segment.host_place = from.host_place(i);
      require(segment.after >= -1 && segment.after < i && segment.place < result_.places.size() &&
              segment.host_place < result_.places.size());
      segment.host_ns = time(from.host_ns(i), 0);
      segment.device_ns = time(from.device_ns(i), 0);
      for (const Ns known : {segment.host_ns, segment.device_ns})
        require(known == kUnknownNs || known >= 0);
      const uint32_t which = from.shares(i);
      require(which >> kShareCount == 0 && std::popcount(which) <= from.share_ns_size() - next);
      for (size_t share = 0; share < kShareCount; ++share) {
        if ((which >> share & 1) != 0) segment.shares[share] = checked(from.share_ns(next++));
      }
    }
    require(next == from.share_ns_size());
  }

  const packed::Rank& from_;
  const std::filesystem::path& origin_;
  RankSummary result_;
};

}  // namespace

std::string pack(const RankSummary& summary) {
  packed::Rank rank;
  const RankIdentity& identity = summary.identity;
  rank.set_rank(identity.rank);
  rank.set_world_size(identity.world_size);
  rank.set_local_rank(identity.local_rank);
  rank.set_host(identity.host);
  rank.set_gpu(identity.gpu);
  rank.set_told_by(identity.told_by);
  rank.set_trace(identity.trace);
  for (const Membership& one : summary.communicators) {
    rank.add_communicator(one.name);
    rank.add_ranks_of_communicator(one.size);
    rank.add_rank_in_communicator(one.rank);
  }
  for (size_t i = 1; i < summary.places.size(); ++i) rank.add_place(summary.places[i]);
  rank.set_first_iteration(summary.first_iteration);
  rank.set_steady_from(summary.steady.from);
  rank.set_steady_to(summary.steady.to);
  for (const RankIteration& iteration : summary.iterations) put(iteration, *rank.add_iteration());
  rank.set_incomplete(summary.incomplete);
  rank.set_clock_start_ns(summary.clock_start_ns);

  return with_header(kSummary, rank.SerializeAsString());
}

RankSummary unpack(std::string_view bytes, const std::filesystem::path& origin) {
  bytes = without_header(kSummary, bytes, origin);
  packed::Rank rank;
  if (!rank.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw_damaged(kSummary, origin);
  return Unpacker(rank, origin).run();
}

void write_summary(const RankSummary& summary, const std::filesystem::path& file) {
  replace_file(file, pack(summary));
}

RankSummary read_summary(const std::filesystem::path& file) {
  return unpack(read_file(file), file);
}

}  // namespace streamscope::job
