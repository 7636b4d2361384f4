// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/simulated_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace streamscope::job {
namespace {

using analysis::Shares;
using analysis::TimeShare;

constexpr Ns kUs = 1'000, kMs = 1'000'000;

/// A time on one rank, and how it came about since the collective (or the start of the iteration)
/// that it depends on last.
struct Moment {
  Ns ns = 0;
  int after = -1;
  Shares shares{};
  std::map<std::string, Ns> places, host_places;
  Ns iteration_ns = 0;  // its start; what was before does not count

  void add(TimeShare share, const std::string& place, Ns length) {
    ns += length;
    length = std::clamp(ns - iteration_ns, Ns{0}, length);
    if (length == 0) return;
    shares[static_cast<size_t>(share)] += length;
    places[place] += length;
    if (share != TimeShare::kKernels) host_places[place] += length;
  }
  void wait_for(const Moment& other) {
    if (other.ns > ns) *this = other;
  }
};

struct Rank {
  int number = 0, tensor = 0, data = 0, stage = 0;
  double speed = 1;
  Moment host, device;
  Ns called_ns = 0;                               // the last call of a collective by the host
  bool waited = false;                            // for the device since then
  std::map<std::string, Ns> stream_free_ns;       // by communicator
  std::map<std::string, uint32_t> next_sequence;  // the same
  std::vector<Collective> collectives;            // of the iteration, in the order of calls
  std::vector<Moment> ready;                      // before each
  std::vector<Ns> host_ns, device_ns;             // the same
  Ns kernels_ns = 0;                              // of kernels issued since the last call
  std::vector<std::pair<Ns, Ns>> kernels;         // when they ran
  std::vector<int> pending;                       // not yet waited for
};

class Simulation {
 public:
  explicit Simulation(const JobPlan& plan) : plan_(plan), random_(plan.seed), ranks_(plan.ranks) {
    for (int number = 0; number < plan.ranks; ++number) {
      Rank& rank = ranks_[number];
      rank.number = number;
      rank.tensor = number % plan.tensor;
      rank.data = number / plan.tensor % plan.data();
      rank.stage = number / plan.tensor / plan.data();
      rank.speed = 1 + 0.003 * normal();
      if (plan.hosts_apart_ms > 0)
        rank.host.ns = rank.called_ns = static_cast<Ns>(uniform(0, plan.hosts_apart_ms) * kMs);
      describe(rank);
    }
    plant();
  }

  SimulatedJob run() {
    for (iteration_ = 0; iteration_ < plan_.iterations; ++iteration_) {
      if (plan_.fault == Fault::kImbalance) choose_busy_rank();
      forward();
      backward();
      finish();
    }
    set_clocks();
    return std::move(job_);
  }

 private:
  double normal() { return std::normal_distribution<double>()(random_); }
  double uniform(double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(random_);
  }
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }
  /// Mostly 2 % around, at times up to half more.
  Ns noisy(double length) {
    length *= std::exp(0.02 * normal());
    if (uniform(0, 1) < 0.005) length *= uniform(1, 1.5);
    return static_cast<Ns>(length);
  }

  /// Every rank as often as the others, in an order by chance.
  void choose_busy_rank() {
    if (turns_.empty()) {
      turns_.resize(std::max(plan_.ranks, plan_.iterations));
      for (size_t i = 0; i < turns_.size(); ++i) turns_[i] = static_cast<int>(i) % plan_.ranks;
      std::ranges::shuffle(turns_, random_);
    }
    busy_rank_ = turns_.back();
    turns_.pop_back();
  }

  void describe(const Rank& rank) {
    RankSummary summary;
    summary.identity.rank = rank.number;
    summary.identity.world_size = plan_.ranks;
    summary.identity.local_rank = rank.number % 8;
    summary.identity.host = fmt::format("node{}", rank.number / 8);
    summary.clock_start_ns = 1;
    summary.first_iteration = 10;
    summary.places = {""};
    job_.summaries.push_back(std::move(summary));
  }

  void plant() {
    const bool one_rank = plan_.fault != Fault::kNone && plan_.fault != Fault::kImbalance;
    if (one_rank) job_.faulty_rank = below(plan_.ranks);
    fault_layer_ = below(plan_.layers);
    extra_ = uniform(0, 1);
    switch (plan_.fault) {
      case Fault::kLateHost:
        fault_layer_ = below(2);
        return expect(TimeShare::kLaunching, call_site(fault_layer_));
      case Fault::kSlowKernel:
        return expect(TimeShare::kKernels, kernel(fault_layer_, true));
      case Fault::kSlowRank:
      case Fault::kImbalance:
        return expect(TimeShare::kKernels, "");
      case Fault::kExtraSync:
        return expect(TimeShare::kSynchronizing, "train.py:88");
      case Fault::kSlowLoader:
        return expect(TimeShare::kOutside, "loader.py:12");
      case Fault::kMissingOverlap:
        return expect(TimeShare::kCollectives,
                      "reduce-scatter of " + data_name(ranks_[job_.faulty_rank]));
      case Fault::kNone:
      case Fault::kMixedOrder:
        return;
    }
  }
  void expect(TimeShare share, std::string place) {
    job_.faulty_share = share;
    job_.faulty_place = std::move(place);
  }
  bool has(const Rank& rank, Fault fault) const {
    return plan_.fault == fault && rank.number == job_.faulty_rank;
  }

  static std::string call_site(int layer) { return fmt::format("train.py:{}", 20 + layer); }
  static std::string kernel(int layer, bool backward) {
    return fmt::format("{}_{}", backward ? "backward" : "forward", layer);
  }
  std::string data_name(const Rank& rank) const {
    return fmt::format("dp{}", rank.stage * plan_.tensor + rank.tensor);
  }
  std::string tensor_name(const Rank& rank) const {
    return fmt::format("tp{}", rank.stage * plan_.data() + rank.data);
  }

  void run_kernel(Rank& rank, const std::string& call, const std::string& name, double length) {
    rank.host.add(TimeShare::kLaunching, call, noisy(50.0 * kUs));
    rank.device.wait_for(rank.host);
    double factor = rank.speed * plan_.device_factor;
    if (has(rank, Fault::kSlowRank)) factor *= 1.2 + 0.3 * extra_;
    if (plan_.fault == Fault::kImbalance && rank.number == busy_rank_) {
      factor *= 1.3 + 0.3 * extra_;
    }
    if (has(rank, Fault::kSlowKernel) && name == job_.faulty_place) factor *= 2 + extra_;
    const Ns start = rank.device.ns;
    rank.device.add(TimeShare::kKernels, name, noisy(length * factor));
    rank.kernels.emplace_back(start, rank.device.ns);
    rank.kernels_ns += rank.device.ns - start;
  }

  /// Every rank of `members` calls it; the device goes on meanwhile if nobody waits.
  void call(const std::vector<Rank*>& members, const std::string& communicator,
            CollectiveKind first, CollectiveKind others, uint64_t bytes, double length) {
    Ns last = 0;
    for (Rank* rank : members) {
      rank->host.add(TimeShare::kLaunching, "train.py:60", noisy(20.0 * kUs));
      rank->host_ns.push_back(take_host_ns(*rank));
      rank->device_ns.push_back(std::exchange(rank->kernels_ns, 0));
      Moment ready = rank->host;
      ready.wait_for(rank->device);
      Collective collective;
      collective.communicator = communicator_in(*rank, communicator, members.size());
      collective.kind = rank == members[0] ? first : others;
      if (is_message(first)) {
        collective.peer = members[rank == members[0] ? 1 : 0]->number;
      } else {
        collective.sequence = 1000 + rank->next_sequence[communicator]++;
      }
      collective.bytes = bytes;
      collective.stream = 1 + collective.communicator;
      collective.issued_ns = rank->host.ns;
      collective.start_ns = std::max(ready.ns, rank->stream_free_ns[communicator]);
      last = std::max(last, collective.start_ns);
      rank->collectives.push_back(collective);
      rank->ready.push_back(std::move(ready));
    }
    const Ns end = last + noisy(length * plan_.device_factor);
    for (Rank* rank : members) {
      Collective& collective = rank->collectives.back();
      collective.end_ns = end + static_cast<Ns>(uniform(0, 2.0 * kUs));
      rank->stream_free_ns[communicator] = collective.end_ns;
      rank->pending.push_back(static_cast<int>(rank->collectives.size()) - 1);
    }
  }
  static void wait_for_device(Rank& rank) {
    rank.waited |= rank.device.ns > rank.host.ns;
    rank.host.wait_for(rank.device);
  }
  /// Since the last call of it or of a collective.
  static Ns take_host_ns(Rank& rank) {
    const Ns spent = rank.host.ns - std::exchange(rank.called_ns, rank.host.ns);
    return std::exchange(rank.waited, false) ? trace::kUnknownNs : spent;
  }
  static void wait_for_calls(Rank& rank) {
    for (int index : rank.pending) {
      Moment end;
      end.ns = rank.collectives[index].end_ns;
      end.after = index;
      end.iteration_ns = rank.device.iteration_ns;
      rank.device.wait_for(end);
    }
    rank.pending.clear();
  }

  uint32_t communicator_in(const Rank& rank, const std::string& name, size_t size) {
    RankSummary& summary = job_.summaries[rank.number];
    const auto found = std::ranges::find(summary.communicators, name, &Membership::name);
    const auto index = static_cast<uint32_t>(found - summary.communicators.begin());
    if (found == summary.communicators.end()) {
      const bool is_whole_job = name == "pp";
      summary.communicators.push_back({name, is_whole_job ? plan_.ranks : static_cast<int>(size),
                                       is_whole_job ? summary.identity.rank : -1});
    }
    return index;
  }

  template <class Name>
  std::vector<std::pair<std::string, std::vector<Rank*>>> groups(int stage, const Name& name) {
    std::map<std::string, std::vector<Rank*>> result;
    for (Rank& rank : ranks_) {
      if (stage < 0 || rank.stage == stage) result[name(rank)].push_back(&rank);
    }
    return {result.begin(), result.end()};
  }

  void reduce_tensors(int stage) {
    if (plan_.tensor == 1) return;
    for (auto& [name, members] :
         groups(stage, [&](const Rank& rank) { return tensor_name(rank); })) {
      call(members, name, CollectiveKind::kAllReduce, CollectiveKind::kAllReduce, 1 << 20,
           300.0 * kUs);
    }
  }

  void reduce_gradients(int stage, int layer) {
    if (plan_.data() == 1) return;
    for (auto& [name, members] : groups(stage, [&](const Rank& rank) { return data_name(rank); })) {
      call(members, name, CollectiveKind::kReduceScatter, CollectiveKind::kReduceScatter,
           (1 << 22) * (layer + 1), 2.0 * kMs);
    }
  }

  void pass_on(int from, int to) {
    for (Rank& rank : ranks_) {
      if (rank.stage != from) continue;
      Rank& other = ranks_[rank.number + (to - from) * plan_.data() * plan_.tensor];
      call({&rank, &other}, "pp", CollectiveKind::kSend, CollectiveKind::kReceive, 1 << 16,
           100.0 * kUs);
      wait_for_calls(other);
      // The sender's device goes on at once.
    }
  }

  void load(Rank& rank) {
    double length = 2.0 * kMs;
    if (has(rank, Fault::kSlowLoader)) length += (5 + 10 * extra_) * kMs;
    rank.host.add(TimeShare::kOutside, "loader.py:12", noisy(length));
  }

  void forward() {
    for (int stage = 0; stage < plan_.pipeline; ++stage) {
      if (stage > 0) pass_on(stage - 1, stage);
      for (Rank& rank : ranks_) {
        if (rank.stage == stage) load(rank);
      }
      for (int layer = 0; layer < plan_.layers; ++layer) {
        for (Rank& rank : ranks_) {
          if (rank.stage != stage) continue;
          if (has(rank, Fault::kLateHost) && layer == fault_layer_) {
            rank.host.add(TimeShare::kLaunching, call_site(layer), noisy((10 + 10 * extra_) * kMs));
          }
          run_kernel(rank, call_site(layer), kernel(layer, false), 3.0 * kMs);
        }
        reduce_tensors(stage);
        for_stage(stage, wait_for_calls);
      }
    }
  }

  template <class Act>
  void for_stage(int stage, const Act& act) {
    for (Rank& rank : ranks_) {
      if (rank.stage == stage) act(rank);
    }
  }

  void backward() {
    for (int stage = plan_.pipeline - 1; stage >= 0; --stage) {
      if (stage + 1 < plan_.pipeline) pass_on(stage + 1, stage);
      for (int layer = plan_.layers - 1; layer >= 0; --layer) {
        for_stage(stage, [&](Rank& rank) {
          if (has(rank, Fault::kExtraSync) && layer == fault_layer_) {
            wait_for_device(rank);
            rank.host.add(TimeShare::kSynchronizing, "train.py:88", noisy((4 + 6 * extra_) * kMs));
          }
          run_kernel(rank, "train.py:50", kernel(layer, true), 5.0 * kMs);
        });
        reduce_tensors(stage);
        if (plan_.tensor > 1) for_stage(stage, wait_for_last_call);
        reduce_gradients(stage, layer);
        for_stage(stage, [&](Rank& rank) {
          if (has(rank, Fault::kMissingOverlap)) wait_for_calls(rank);
        });
      }
    }
  }
  static void wait_for_last_call(Rank& rank) {
    std::vector<int> others(rank.pending.begin(), rank.pending.end() - 1);
    rank.pending.erase(rank.pending.begin(), rank.pending.end() - 1);
    wait_for_calls(rank);
    rank.pending = std::move(others);
  }

  void finish() {
    std::vector<Rank*> all;
    for (Rank& rank : ranks_) {
      wait_for_calls(rank);
      all.push_back(&rank);
    }
    call(all, "world", CollectiveKind::kAllReduce, CollectiveKind::kAllReduce, 4, 50.0 * kUs);
    for (Rank& rank : ranks_) {
      wait_for_calls(rank);
      run_kernel(rank, "train.py:70", "optimizer", 1.0 * kMs);
      if (!plan_.runs_ahead) wait_for_device(rank);
      write(rank);
      job_.duration_ns = std::max(job_.duration_ns, rank.device.ns);
    }
  }

  uint32_t place_in(RankSummary& summary, const std::map<std::string, Ns>& places) {
    if (places.empty()) return 0;
    const std::string& name =
        std::ranges::max_element(places, {}, [](const auto& place) { return place.second; })->first;
    const auto found = std::ranges::find(summary.places, name);
    const auto index = static_cast<uint32_t>(found - summary.places.begin());
    if (found == summary.places.end()) summary.places.push_back(name);
    return index;
  }

  /// The iteration in the order of starts; the next one begins where the host is.
  void write(Rank& rank) {
    RankSummary& summary = job_.summaries[rank.number];
    std::vector<int> order(rank.collectives.size()), position(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {},
                             [&](int index) { return rank.collectives[index].start_ns; });
    for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
    RankIteration iteration;
    iteration.start_ns = summary.iterations.empty() ? 0 : summary.iterations.back().end_ns;
    Moment last = rank.device;
    last.wait_for(rank.host);
    iteration.end_ns = last.ns;
    const auto segment = [&](const Moment& moment, Ns host_ns, Ns device_ns) {
      return Segment{moment.after < 0 ? -1 : position[moment.after],
                     moment.shares,
                     place_in(summary, moment.places),
                     place_in(summary, moment.host_places),
                     host_ns,
                     device_ns};
    };
    for (int index : order) {
      iteration.collectives.push_back(rank.collectives[index]);
      iteration.segments.push_back(
          segment(rank.ready[index], rank.host_ns[index], rank.device_ns[index]));
    }
    iteration.segments.push_back(
        segment(last, take_host_ns(rank), std::exchange(rank.kernels_ns, 0)));
    iteration.alone_ns = alone_ns(rank);
    if (has(rank, Fault::kMixedOrder) && iteration_ == plan_.iterations / 2) mix(iteration);
    summary.iterations.push_back(std::move(iteration));
    rank.collectives.clear();
    rank.ready.clear();
    rank.host_ns.clear();
    rank.device_ns.clear();
    rank.kernels.clear();
    rank.host = Moment{.ns = rank.host.ns, .iteration_ns = last.ns};
    rank.device = Moment{.ns = last.ns, .iteration_ns = last.ns};
  }

  /// From one instant at which something begins or ends to the next.
  static Ns alone_ns(const Rank& rank) {
    std::map<Ns, std::pair<int, int>> changes;  // of collectives and kernels that run
    for (const Collective& one : rank.collectives) {
      ++changes[one.start_ns].first;
      --changes[one.end_ns].first;
    }
    for (const auto& [start, end] : rank.kernels) {
      ++changes[start].second;
      --changes[end].second;
    }
    Ns alone = 0, since = 0;
    int collectives = 0, kernels = 0;
    for (const auto& [at, change] : changes) {
      if (collectives > 0 && kernels == 0) alone += at - since;
      collectives += change.first;
      kernels += change.second;
      since = at;
    }
    return alone;
  }

  /// The reductions of two layers change places.
  static void mix(RankIteration& iteration) {
    std::vector<Collective*> reductions;
    for (Collective& collective : iteration.collectives) {
      if (collective.kind == CollectiveKind::kReduceScatter) reductions.push_back(&collective);
    }
    std::swap(reductions[0]->bytes, reductions[1]->bytes);
  }

  void set_clocks() {
    std::map<std::string, std::pair<double, double>> clocks;  // by host: offset, drift
    for (RankSummary& summary : job_.summaries) {
      const auto [clock, is_new] = clocks.try_emplace(summary.identity.host);
      if (is_new) clock->second = {uniform(-1e9, 1e9), uniform(-20e-6, 20e-6)};
      const auto [offset, drift] = clock->second;
      job_.offset_ns.push_back(offset);
      job_.drift.push_back(drift);
      const auto shift = [offset = offset, drift = drift](Ns& time) {
        time += static_cast<Ns>(offset + drift * static_cast<double>(time));
      };
      for (RankIteration& iteration : summary.iterations) {
        shift(iteration.start_ns);
        shift(iteration.end_ns);
        for (Collective& collective : iteration.collectives) {
          shift(collective.issued_ns);
          shift(collective.start_ns);
          shift(collective.end_ns);
        }
      }
    }
  }

  const JobPlan plan_;
  std::mt19937 random_;
  std::vector<Rank> ranks_;
  SimulatedJob job_;
  int iteration_ = 0;
  int fault_layer_ = 0;
  int busy_rank_ = -1;
  std::vector<int> turns_;
  double extra_ = 0;  // how bad the fault is, from 0 to 1
};

}  // namespace

JobPlan random_plan(int ranks, Fault fault, uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int most) {
    int size = 1;
    while (size * 2 <= most && random() % 2 == 0) size *= 2;
    return size;
  };
  JobPlan plan;
  plan.ranks = ranks;
  plan.fault = fault;
  plan.seed = seed;
  plan.tensor = pick(std::min(8, ranks / 2));
  while (ranks % plan.tensor != 0) plan.tensor /= 2;
  plan.pipeline = pick(std::min(4, ranks / plan.tensor / 2));
  while (ranks / plan.tensor % plan.pipeline != 0) plan.pipeline /= 2;
  plan.layers = 2 + static_cast<int>(random() % 4);
  return plan;
}

SimulatedJob simulate(const JobPlan& plan) { return Simulation(plan).run(); }

}  // namespace streamscope::job
