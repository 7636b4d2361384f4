// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/peers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "analysis/large_vector.h"
#include "vocabulary/fnv1a.h"
#include "vocabulary/threads.h"

namespace streamscope::job {
namespace {

/// The lower one of an even number: of two ranks the faster one is the measure.
template <class Value>
Value lower_median(std::vector<Value>& values) {
  const auto middle = values.begin() + (values.size() - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <class Value>
Value lower_quartile(std::vector<Value>& values) {
  const auto quarter = values.begin() + (values.size() - 1) / 4;
  std::ranges::nth_element(values, quarter);
  return *quarter;
}

/// Iterations of equal programs: all, and in parts of one iteration number each.
struct Program {
  std::vector<uint32_t> rows;   ///< by number, then by rank
  std::vector<uint32_t> parts;  ///< index of the first row of each part, and the end
  uint32_t first_usual = 0;     ///< of the first part; each part has one per position
  uint32_t positions = 0;
};

struct Programs {
  std::vector<Program> all;
  std::vector<uint32_t> of_row;
};

Programs programs_of(const Steps& steps) {
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> ids;
  Programs result;
  std::vector<Program>& programs = result.all;
  for (uint32_t row = 0; row < steps.iterations.size(); ++row) {
    const auto [found, is_new] = ids.try_emplace(program_of(steps, steps.iterations[row]),
                                                 static_cast<uint32_t>(programs.size()));
    if (is_new) programs.emplace_back();
    programs[found->second].rows.push_back(row);
    result.of_row.push_back(found->second);
  }
  uint32_t next = 0;
  for (Program& program : programs) {
    std::ranges::sort(program.rows, {}, [&](uint32_t row) {
      return std::pair(steps.iterations[row].number, steps.iterations[row].rank);
    });
    program.positions = steps.iterations[program.rows.front()].step_count;
    program.first_usual = next;
    for (uint32_t i = 0; i < program.rows.size(); ++i) {
      if (i == 0 || steps.iterations[program.rows[i]].number !=
                        steps.iterations[program.rows[i - 1]].number) {
        program.parts.push_back(i);
        next += program.positions;
      }
    }
    program.parts.push_back(static_cast<uint32_t>(program.rows.size()));
  }
  return result;
}

/// At most a few thousand of the rows, spread evenly: enough for a median that is off by a
/// thirtieth of the noise.
std::vector<uint32_t> some_of(std::span<const uint32_t> rows) {
  constexpr size_t kEnough = 4096;
  if (rows.size() <= kEnough) return {rows.begin(), rows.end()};
  std::vector<uint32_t> some;
  for (size_t i = 0; i < kEnough; ++i) some.push_back(rows[i * rows.size() / kEnough]);
  return some;
}

class PositionMedians {
 public:
  PositionMedians(const Steps& steps, const Programs& programs, uint32_t program, uint32_t position)
      : steps_(steps), programs_(programs), program_(programs.all[program]), position_(position) {}

  void fill(std::vector<Usual>& usual) {
    const float noise = noise_of([&](uint32_t step) { return steps_.work_ns[step]; });
    const float host_noise = noise_of(
        [&](uint32_t step) { return static_cast<Ns>(std::max(steps_.host_ns[step], 0.f)); });
    const float start_noise = noise_of([&](uint32_t step) {
      return steps_.start_ns[step] - steps_.iterations[steps_.row[step]].start_ns;
    });
    for (size_t part = 0; part + 1 < program_.parts.size(); ++part) {
      std::span<const uint32_t> all = program_.rows;
      if (program_.parts[part + 1] - program_.parts[part] > 1) {
        all = all.subspan(program_.parts[part], program_.parts[part + 1] - program_.parts[part]);
      }
      const std::vector<uint32_t> rows = some_of(all);
      Usual result = median_of(rows);
      result.noise_ns = noise >= 0 ? noise : spread_ns(rows, result);
      result.start_noise_ns = std::max(start_noise, result.noise_ns);
      result.host_ns = known_median(steps_.host_ns, rows);
      result.device_ns = known_median(steps_.device_ns, rows);
      result.host_noise_ns = std::max(host_noise, 0.f);  // alone: add_up_noise() follows
      usual[program_.first_usual + part * program_.positions + position_] = result;
    }
  }

 private:
  uint32_t step_in(uint32_t row) const { return steps_.iterations[row].first_step + position_; }

  /// In the iteration; -1: its start.
  int32_t after_in(uint32_t row) const {
    const uint32_t after = steps_.after[step_in(row)], first = steps_.iterations[row].first_step;
    return after == kNone || after < first ? -1 : static_cast<int32_t>(after - first);
  }

  Usual median_of(std::span<const uint32_t> rows) {
    Usual result;
    std::vector<int32_t> afters, sorted;
    for (uint32_t row : rows) afters.push_back(after_in(row));
    sorted = afters;
    result.after = lower_median(sorted);
    const auto alike = static_cast<size_t>(std::ranges::count(afters, result.after));
    result.disagree = 2 * alike <= rows.size();
    // Lengths compare only where they begin at the same step; chains begin with the iteration.
    std::vector<Chain> lengths;
    for (uint32_t row : rows) {
      const uint32_t step = step_in(row);
      if (after_in(row) == result.after) {
        lengths.push_back({steps_.work_ns[step], steps_.shares[step]});
      } else if (result.disagree && result.after < 0) {
        lengths.push_back(chain_of(steps_, step));
      }
    }
    std::vector<Ns> works(lengths.size());
    std::ranges::transform(lengths, works.begin(), &Chain::work_ns);
    result.work_ns = lower_median(works);
    std::vector<float> parts(lengths.size());
    for (size_t share = 0; share < analysis::kShareCount; ++share) {
      std::ranges::transform(lengths, parts.begin(),
                             [&](const Chain& length) { return length.shares[share]; });
      result.shares[share] = lower_median(parts);
    }
    return result;
  }

  float known_median(const std::vector<float>& times, std::span<const uint32_t> rows) const {
    std::vector<float> known;
    for (uint32_t row : rows) {
      if (const float time = times[step_in(row)]; time >= 0) known.push_back(time);
    }
    return known.empty() ? -1 : lower_median(known);
  }

  /// From one iteration of a rank to its next; negative if no rank has two. A quartile, as half of
  /// the changes between two ranks may be a delay that comes and goes.
  template <class Value>
  float noise_of(const Value& value) const {
    constexpr double kSigmasOfQuartile = 0.4506;  // of the difference of two normal values
    std::vector<float> differences;
    for (uint32_t row : some_of(program_.rows)) {
      const uint32_t next = row + 1;  // a rank's rows are neighbors
      if (next == steps_.iterations.size() ||
          steps_.iterations[next].rank != steps_.iterations[row].rank ||
          programs_.of_row[next] != programs_.of_row[row]) {
        continue;
      }
      if (!steps_.ran(step_in(row)) || !steps_.ran(step_in(next))) continue;
      differences.push_back(
          static_cast<float>(std::abs(value(step_in(next)) - value(step_in(row)))));
    }
    if (differences.empty()) return -1;
    return static_cast<float>(lower_quartile(differences) / kSigmasOfQuartile);
  }

  /// Among peers, for want of a second iteration.
  float spread_ns(std::span<const uint32_t> rows, const Usual& usual) const {
    constexpr double kSigmasOfMedianDeviation = 0.6745, kGuess = 0.05;
    if (rows.size() < 4) return static_cast<float>(usual.work_ns * kGuess);
    std::vector<float> deviations;
    for (uint32_t row : rows) {
      deviations.push_back(
          static_cast<float>(std::abs(steps_.work_ns[step_in(row)] - usual.work_ns)));
    }
    return static_cast<float>(lower_median(deviations) / kSigmasOfMedianDeviation);
  }

  const Steps& steps_;
  const Programs& programs_;
  const Program& program_;
  const uint32_t position_;
};

/// From that of each position to that of all until it.
void add_up_noise(const Programs& programs, std::vector<Usual>& all) {
  for (const Program& program : programs.all) {
    for (size_t part = 0; part + 1 < program.parts.size(); ++part) {
      float variance = 0;
      for (uint32_t position = 0; position < program.positions; ++position) {
        float& noise = all[program.first_usual + part * program.positions + position].host_noise_ns;
        variance += noise * noise;
        noise = std::sqrt(variance);
      }
    }
  }
}

std::vector<Ns> own_durations(const Steps& steps) {
  std::vector<Ns> shortest(steps.group_count, trace::kUnknownNs);
  for (uint32_t step = 0; step < steps.count(); ++step) {
    if (!steps.ran(step)) continue;
    const Ns duration = steps.end_ns[step] - steps.start_ns[step];
    Ns& own = shortest[steps.group[step]];
    if (own == trace::kUnknownNs || duration < own) own = duration;
  }
  return shortest;
}

void compare_hosts(const Steps& steps, Peers& peers) {
  analysis::resize_large(peers.host_lag_ns, steps.count());
  analysis::resize_large(peers.waited, steps.count());
  for (const IterationRow& row : steps.iterations) {
    float lag = 0;
    uint32_t waited = kNone;
    for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
      const float usual = peers.of(steps, step).host_ns;
      const bool known = steps.host_ns[step] >= 0 && usual >= 0;
      if (!known) waited = step;
      lag = known ? lag + steps.host_ns[step] - usual : 0;
      peers.host_lag_ns[step] = lag;
      peers.waited[step] = waited;
    }
  }
}

/// Beyond what is usual.
Ns longer_ns(const Steps& steps, const Peers& peers, uint32_t step) {
  const std::optional<Ns> length = usual_length_ns(steps, peers, step);
  return length ? std::max<Ns>(*length - peers.of(steps, step).work_ns, 0) : 0;
}

/// The step since which a step's excess counts: what it was late by until then, earlier steps have.
/// kNone: the start of the iteration.
uint32_t counts_since(const Steps& steps, const Peers& peers, uint32_t step) {
  const uint32_t first = steps.iterations[steps.row[step]].first_step;
  uint32_t since = kNone;
  for (const uint32_t one : {steps.after[step], usual_after(steps, peers, step)}) {
    if (one != kNone && one >= first && (since == kNone || one > since)) since = one;
  }
  return since;
}

/// The most for which the host can have held up the work of a step.
float host_limit_ns(const Steps& steps, const Peers& peers, uint32_t step) {
  const uint32_t since = counts_since(steps, peers, step);
  if (peers.waited[step] != kNone && (since == kNone || peers.waited[step] > since))
    return std::numeric_limits<float>::infinity();
  return std::max(peers.host_lag_ns[step] - (since == kNone ? 0 : peers.host_lag_ns[since]), 0.f);
}

float host_part(const CompactShares& shares) {
  float sum = 0;
  for (size_t share = 0; share < analysis::kShareCount; ++share) {
    if (is_host_time(static_cast<analysis::TimeShare>(share))) sum += shares[share];
  }
  return sum;
}

// What is beyond the limit the hosts of the peers do as well, ahead of their devices, where it does
// not show: they launch.
void limit_host(float most_ns, Excess& excess) {
  const float whole_ns = host_part(excess.shares);
  if (whole_ns <= most_ns) return;
  excess.total_ns = std::max(excess.total_ns - (whole_ns - most_ns), 0.f);
  float& launching = excess.shares[static_cast<size_t>(analysis::TimeShare::kLaunching)];
  launching = std::max(launching - (whole_ns - most_ns), 0.f);
  const float host_ns = host_part(excess.shares);
  if (host_ns <= most_ns) return;
  for (size_t share = 0; share < analysis::kShareCount; ++share) {
    if (is_host_time(static_cast<analysis::TimeShare>(share)))
      excess.shares[share] *= most_ns / host_ns;
  }
}

// What the work on the rank's device that was issued since `from` takes longer than usual; nothing
// if that is not known.
std::optional<float> device_longer_ns(const Steps& steps, const Peers& peers, uint32_t from,
                                      uint32_t step) {
  float longer = 0;
  for (uint32_t at = from; at <= step; ++at) {
    const float usual = peers.of(steps, at).device_ns;
    if (steps.device_ns[at] < 0 || usual < 0) return std::nullopt;
    longer += steps.device_ns[at] - usual;
  }
  return std::max(longer, 0.f);
}

// The rank has no more work than its peers where it does not take longer. What seems longer then
// the peers do beside the collective before, or while they wait for others. Nor does it matter that
// work begins late, as the device is busy with that.
void limit_device(const Steps& steps, const Peers& peers, uint32_t step, Excess& excess) {
  using enum analysis::TimeShare;
  const uint32_t first = steps.iterations[steps.row[step]].first_step, after = steps.after[step];
  const bool in_iteration = after != kNone && after >= first;
  const uint32_t since = counts_since(steps, peers, step);
  const std::optional<float> longer =
      device_longer_ns(steps, peers, since == kNone ? first : since + 1, step);
  if (!longer) return;
  const auto share = [&](analysis::TimeShare of) -> float& {
    return excess.shares[static_cast<size_t>(of)];
  };
  const float latency = std::max(share(kLatency) - *longer, 0.f);
  share(kLatency) -= latency;
  excess.total_ns = std::max(excess.total_ns - latency, 0.f);
  const float work = share(kKernels) + share(kCopies) + share(kOtherWork), rest = work - *longer;
  if (rest <= work / 2) return;
  if (in_iteration) {
    if (excess.exposed != kNone) return;
    excess.exposed = after;
    excess.exposed_ns = rest;
  } else if (after == usual_after(steps, peers, step) && !peers.of(steps, step).disagree) {
    return;  // the same way, on which the peers have less
  } else {
    excess.total_ns = std::max(excess.total_ns - rest, 0.f);
  }
  for (const auto of : {kKernels, kCopies, kOtherWork}) share(of) *= *longer / work;
}

}  // namespace

std::pair<uint32_t, uint64_t> program_of(const Steps& steps, const IterationRow& row) {
  uint64_t hash = kFnv1aStart;
  for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
    const uint32_t communicator = steps.communicator[step];
    hash = fnv1a_step(static_cast<uint64_t>(steps.kind[step]), hash);
    const int32_t size = communicator == kNone ? -2 : steps.communicators[communicator].size;
    hash = fnv1a_step(static_cast<uint64_t>(size), hash);
  }
  return {row.step_count, hash};
}

Peers peers_of(const Steps& steps) {
  const Programs programs = programs_of(steps);
  Peers result;
  result.first_usual.resize(steps.iterations.size());
  result.is_alone.resize(steps.ranks.size(), true);
  std::vector<std::pair<uint32_t, uint32_t>> tasks;  // program, position
  for (uint32_t index = 0; index < programs.all.size(); ++index) {
    const Program& program = programs.all[index];
    const size_t part_count = program.parts.size() - 1;
    for (size_t part = 0; part < part_count; ++part) {
      for (uint32_t i = program.parts[part]; i < program.parts[part + 1]; ++i) {
        result.first_usual[program.rows[i]] =
            program.first_usual + static_cast<uint32_t>(part) * program.positions;
        if (program.parts[part + 1] - program.parts[part] > 1)
          result.is_alone[steps.iterations[program.rows[i]].rank] = false;
      }
    }
    result.usual.resize(program.first_usual + part_count * program.positions);
    for (uint32_t position = 0; position < program.positions; ++position) {
      tasks.emplace_back(index, position);
    }
  }
  for_each_part(tasks.size(), [&](size_t task) {
    PositionMedians(steps, programs, tasks[task].first, tasks[task].second).fill(result.usual);
  });
  add_up_noise(programs, result.usual);
  result.own_ns = own_durations(steps);
  compare_hosts(steps, result);
  return result;
}

Chain chain_of(const Steps& steps, uint32_t step) {
  const uint32_t first = steps.iterations[steps.row[step]].first_step;
  Chain chain;
  for (uint32_t at = step; at != kNone && at >= first; at = steps.after[at]) {
    chain.work_ns += steps.work_ns[at];
    for (size_t share = 0; share < analysis::kShareCount; ++share)
      chain.shares[share] += steps.shares[at][share];
  }
  return chain;
}

uint32_t usual_after(const Steps& steps, const Peers& peers, uint32_t step) {
  const IterationRow& row = steps.iterations[steps.row[step]];
  const int32_t after = peers.of(steps, step).after;
  if (after >= 0) return row.first_step + static_cast<uint32_t>(after);
  // The end of the rank's iteration before.
  return steps.row[step] == steps.ranks[row.rank].first_row ? kNone : row.first_step - 1;
}

std::optional<Ns> usual_length_ns(const Steps& steps, const Peers& peers, uint32_t step) {
  const uint32_t expected = usual_after(steps, peers, step);
  if (steps.after[step] == expected) return steps.work_ns[step];
  const IterationRow& row = steps.iterations[steps.row[step]];
  const Ns from =
      expected == kNone || expected < row.first_step ? row.start_ns : steps.end_ns[expected];
  if (from == trace::kUnknownNs || steps.start_ns[step] == trace::kUnknownNs) return std::nullopt;
  return std::max<Ns>(steps.start_ns[step] - from, 0);
}

Ns excess_ns(const Steps& steps, const Peers& peers, uint32_t step) {
  const Ns longer = longer_ns(steps, peers, step);
  if (longer == 0 ||
      (steps.device_ns[step] < 0 && steps.after[step] == usual_after(steps, peers, step) &&
       static_cast<float>(longer) <= host_limit_ns(steps, peers, step)))
    return longer;
  return static_cast<Ns>(excess_of(steps, peers, step).total_ns);
}

Excess excess_of(const Steps& steps, const Peers& peers, uint32_t step) {
  Excess excess;
  excess.total_ns = static_cast<float>(longer_ns(steps, peers, step));
  if (excess.total_ns == 0) return excess;
  const Usual& usual = peers.of(steps, step);
  const uint32_t after = steps.after[step];
  float known = 0;
  for (size_t share = 0; share < analysis::kShareCount; ++share) {
    excess.shares[share] = std::max(steps.shares[step][share] - usual.shares[share], 0.f);
    known += excess.shares[share];
  }
  if (after != usual_after(steps, peers, step) && after != kNone && !steps.ends_iteration(after) &&
      known < excess.total_ns) {
    const Ns own_ns = peers.own_ns[steps.group[after]];
    excess.exposed = after;
    // Only what the rank does after that collective could have run beside it.
    excess.exposed_ns =
        std::min({excess.total_ns - known, static_cast<float>(std::max<Ns>(own_ns, 0)),
                  static_cast<float>(steps.work_ns[step])});
    excess.total_ns = known + excess.exposed_ns;
  } else if (known > 0) {
    for (float& share : excess.shares) share *= excess.total_ns / known;
  }
  limit_host(host_limit_ns(steps, peers, step), excess);
  limit_device(steps, peers, step, excess);
  return excess;
}

float noise_ns(const Steps& steps, const Peers& peers, uint32_t step) {
  const Usual& usual = peers.of(steps, step);
  if (steps.after[step] != usual_after(steps, peers, step)) return usual.start_noise_ns;
  return std::isinf(host_limit_ns(steps, peers, step))
             ? usual.noise_ns
             : std::max(usual.noise_ns, usual.host_noise_ns);
}

float host_excess_ns(const Steps& steps, const Peers& peers, uint32_t step) {
  const float own = steps.host_ns[step], usual = peers.of(steps, step).host_ns;
  return own < 0 || usual < 0 ? 0 : std::max(own - usual, 0.f);
}

}  // namespace streamscope::job
