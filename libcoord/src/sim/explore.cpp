// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Chooses the orders of a program to run: first all distinct ones (dynamic partial-order reduction
// with sleep sets, after Flanagan and Godefroid), and if there are too many, random ones with
// priorities that change at few points (after Burckhardt et al.).

#include "coord/explore.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <span>
#include <unordered_map>

#include "codes.h"
#include "sim/controller.h"

namespace coord::sim {

namespace {

/// Tracks what was tried at each point of the current order, and what remains to be tried.
class Search final : public Decider {
 public:
  std::optional<std::size_t> decide(const Step* last, const std::vector<Step>& next) override {
    const std::size_t depth = depth_++;
    if (last != nullptr && depth >= replayed_) complete(depth - 1, *last);
    if (depth >= replayed_) {
      for (const Step& step : next) find_reversals(depth, step);
      nodes_.push_back({.enabled = {}, .sleep = inherited_sleep(depth)});
      Node& node = nodes_.back();
      for (const Step& step : next) {
        if (step.enabled) node.enabled.push_back(step);
      }
      const auto chosen = std::ranges::find_if(
          node.enabled, [&](const Step& step) { return !contains(node.sleep, step.who); });
      if (chosen == node.enabled.end()) return std::nullopt;  // equivalent to an order already run
      node.chosen = chosen->who;
      node.wanted.insert(node.chosen);
    }
    const std::uint64_t who = nodes_[depth].chosen;
    const auto found = std::ranges::find_if(
        next, [&](const Step& step) { return step.who == who && step.enabled; });
    if (found == next.end()) {
      diverged_ = true;
      return std::nullopt;
    }
    return static_cast<std::size_t>(found - next.begin());
  }

  /// The program behaved differently in the same order.
  [[nodiscard]] bool diverged() const { return diverged_; }

  /// Prepares for the next order. False if all have been run.
  bool advance() {
    for (; !nodes_.empty(); nodes_.pop_back()) {
      Node& node = nodes_.back();
      const auto tried = std::ranges::find(node.enabled, node.chosen, &Step::who);
      if (tried != node.enabled.end() && !contains(node.sleep, tried->who))
        node.sleep.push_back(*tried);
      const auto next = std::ranges::find_if(
          node.wanted, [&](std::uint64_t who) { return !contains(node.sleep, who); });
      if (next == node.wanted.end()) continue;
      node.chosen = *next;
      replayed_ = nodes_.size();
      depth_ = 0;
      return true;
    }
    return false;
  }

 private:
  struct Node {
    std::vector<Step> enabled;
    std::vector<Step> sleep;         // steps whose orders from here were all run
    std::set<std::uint64_t> wanted;  // threads and operations to try here
    std::uint64_t chosen = 0;
    Step step;    // what the chosen one did
    Past before;  // positions of the steps it depends on
  };

  static bool contains(const std::vector<Step>& steps, std::uint64_t who) {
    return std::ranges::find(steps, who, &Step::who) != steps.end();
  }

  [[nodiscard]] std::vector<Step> inherited_sleep(std::size_t depth) const {
    std::vector<Step> sleep;
    if (depth == 0) return sleep;
    const Node& parent = nodes_[depth - 1];
    for (const Step& step : parent.sleep) {
      if (commute(step, parent.step)) sleep.push_back(step);
    }
    return sleep;
  }

  void complete(std::size_t position, const Step& step) {
    Node& node = nodes_[position];
    node.step = step;
    node.before = Past();
    for (std::size_t i = position; i-- > 0;) {
      if (node.before.contains(static_cast<std::uint32_t>(i)) || commute(nodes_[i].step, step))
        continue;
      node.before.add(static_cast<std::uint32_t>(i));
      node.before.add(nodes_[i].before);
    }
  }

  /// Finds past steps that could have come after `pending`, and schedules that order.
  void find_reversals(std::size_t depth, const Step& pending) {
    Past base;  // what must come before `pending` in any order
    for (std::size_t i = depth; i-- > 0;) {
      const Step& step = nodes_[i].step;
      if (step.who != pending.who && !enables(step, pending)) continue;
      base.add(static_cast<std::uint32_t>(i));
      base.add(nodes_[i].before);
    }
    Past covered = base;
    for (std::size_t i = depth; i-- > 0;) {
      if (covered.contains(static_cast<std::uint32_t>(i)) || commute(nodes_[i].step, pending))
        continue;
      covered.add(nodes_[i].before);
      want(nodes_[i], i, depth, pending, base);
    }
  }

  static bool enables(const Step& step, const Step& pending) {
    return std::ranges::any_of(step.touches, [&](const Touch& touch) {
      return touch.writes && std::ranges::find(pending.needs, touch.object) != pending.needs.end();
    });
  }

  void want(Node& node, std::size_t at, std::size_t depth, const Step& pending, const Past& base) {
    if (contains(node.enabled, pending.who)) {
      node.wanted.insert(pending.who);
      return;
    }
    for (std::size_t j = at + 1; j < depth; ++j) {
      const std::uint64_t who = nodes_[j].step.who;
      if (!base.contains(static_cast<std::uint32_t>(j)) || !contains(node.enabled, who) ||
          who == node.chosen)
        continue;
      node.wanted.insert(who);
      return;
    }
    for (const Step& step : node.enabled) node.wanted.insert(step.who);
  }

  std::vector<Node> nodes_;
  std::size_t replayed_ = 0;  // nodes that the next run repeats
  std::size_t depth_ = 0;
  bool diverged_ = false;
};

/// Threads and streams have random priorities; the most urgent one proceeds, and at a few random
/// points it becomes the least urgent.
class Sample final : public Decider {
 public:
  Sample(std::uint64_t seed, std::uint32_t changes, std::size_t length) : state_(seed) {
    for (std::uint32_t i = 0; i < changes; ++i)
      changes_.insert(random() % std::max<std::size_t>(length, 1));
  }

  std::optional<std::size_t> decide(const Step*, const std::vector<Step>& next) override {
    for (const Step& step : next) {
      const auto [priority, is_new] = priorities_.try_emplace(step.lane, 0);
      if (is_new) priority->second = random() | std::uint64_t{1} << 63;
    }
    const std::size_t chosen = most_urgent(next);
    if (changes_.count(step_++) == 0) return chosen;
    priorities_[next[chosen].lane] = lowest_--;
    return most_urgent(next);
  }

 private:
  std::size_t most_urgent(const std::vector<Step>& next) {
    std::size_t best = next.size();
    for (std::size_t i = 0; i < next.size(); ++i) {
      if (!next[i].enabled) continue;
      if (best == next.size() || priorities_[next[i].lane] > priorities_[next[best].lane]) best = i;
    }
    return best;
  }

  std::uint64_t random() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  std::uint64_t step_ = 0;
  std::uint64_t lowest_ = 1'000'000;
  std::set<std::uint64_t> changes_;
  std::unordered_map<std::uint64_t, std::uint64_t> priorities_;  // by lane
};

class Repeat final : public Decider {
 public:
  explicit Repeat(const Schedule& schedule) : schedule_(schedule) {}

  std::optional<std::size_t> decide(const Step*, const std::vector<Step>& next) override {
    if (step_ < schedule_.choices.size()) {
      const std::size_t choice = schedule_.choices[step_++];
      if (choice >= next.size() || !next[choice].enabled) {
        fits_ = false;
        return std::nullopt;
      }
      return choice;
    }
    return static_cast<std::size_t>(
        std::ranges::find_if(next, [](const Step& step) { return step.enabled; }) - next.begin());
  }
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  const Schedule& schedule_;
  std::size_t step_ = 0;
  bool fits_ = true;
};

/// Results of the runs so far.
class Outcome {
 public:
  Outcome(const Program& program, const ExploreOptions& options)
      : program_(program), options_(options) {}

  /// False once there are enough findings.
  bool run(Decider& decider) {
    Controller controller(options_, decider);
    controller.run(program_);
    ++report.runs;
    report.result = controller.result();
    length_ = std::max(length_, controller.schedule().choices.size());
    std::optional<Finding> finding = controller.take_finding();
    if (!finding && !controller.given_up()) finding = compare(controller);
    if (finding && std::ranges::none_of(report.findings, [&](const Finding& known) {
          return known.kind == finding->kind && known.text == finding->text;
        })) {
      report.findings.push_back(std::move(*finding));
    }
    return report.findings.size() < options_.max_findings;
  }

  [[nodiscard]] std::size_t length() const { return length_; }

  Report report;

 private:
  std::optional<Finding> compare(const Controller& controller) {
    const std::vector<double>& result = controller.result();
    if (!first_) {
      first_ = result;
      first_schedule_ = controller.schedule();
      return std::nullopt;
    }
    if (std::ranges::equal(std::as_bytes(std::span(result)), std::as_bytes(std::span(*first_))))
      return std::nullopt;
    std::size_t at = 0;
    while (at < std::min(result.size(), first_->size()) && result[at] == (*first_)[at]) ++at;
    const auto value = [at](const std::vector<double>& values) {
      return at < values.size() ? std::to_string(values[at]) : std::string("missing");
    };
    return Finding{FindingKind::kOrderDependence,
                   "the result depends on the order: value " + std::to_string(at) + " is " +
                       value(result) + ", and " + value(*first_) + " in the order " +
                       first_schedule_.text(),
                   controller.schedule()};
  }

  const Program& program_;
  const ExploreOptions& options_;
  std::size_t length_ = 0;
  std::optional<std::vector<double>> first_;
  Schedule first_schedule_;
};

}  // namespace

Report explore(const Program& program, const ExploreOptions& options) {
  Outcome outcome(program, options);
  Search search;
  bool more = options.max_runs > 0;
  while (more && outcome.run(search)) {
    if (search.diverged()) {
      outcome.report.findings.push_back(
          {FindingKind::kFailure,
           "the program behaved differently in the same order: it depends on more than the order",
           {}});
      return std::move(outcome.report);
    }
    more = search.advance();
    if (!more) outcome.report.exhaustive = true;
    if (outcome.report.runs >= options.max_runs) break;
  }
  if (outcome.report.exhaustive || outcome.report.findings.size() >= options.max_findings)
    return std::move(outcome.report);
  for (std::uint64_t i = 0; i < options.samples; ++i) {
    Sample sample(options.seed * 1'000'003 + i, options.sample_depth - 1, outcome.length());
    if (!outcome.run(sample)) break;
  }
  return std::move(outcome.report);
}

Report replay(const Program& program, const Schedule& schedule, const ExploreOptions& options) {
  Outcome outcome(program, options);
  Repeat repeat(schedule);
  outcome.run(repeat);
  if (!repeat.fits())
    throw make_error(kCodeInvalidValue, "sim::replay", "the schedule belongs to another program");
  return std::move(outcome.report);
}

std::string Schedule::text() const {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {  // runs of equal choices are written 3x0
    std::size_t end = i;
    while (end < choices.size() && choices[end] == choices[i]) ++end;
    if (!text.empty()) text += ' ';
    if (end - i > 1) text += std::to_string(end - i) + "x";
    text += std::to_string(choices[i]);
    i = end;
  }
  return text;
}

Schedule Schedule::parse(std::string_view text) {
  constexpr const char* kExpected = "expected numbers such as 3x0 1";
  Schedule schedule;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto check = [](bool ok, const char* why) {
    if (!ok) throw make_error(kCodeInvalidValue, "sim::Schedule::parse", why);
  };
  const auto number = [&] {
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    check(error == std::errc(), kExpected);
    at = stop;
    return value;
  };
  while (at != end) {
    std::uint32_t count = 1, choice = number();
    if (at != end && *at == 'x') {
      ++at;
      count = choice;
      choice = number();
    }
    constexpr std::size_t kLongest = 10'000'000;
    check(count <= kLongest && schedule.choices.size() <= kLongest, "too long");
    schedule.choices.insert(schedule.choices.end(), count, choice);
    check(at == end || *at == ' ', kExpected);
    while (at != end && *at == ' ') ++at;
  }
  return schedule;
}

const char* to_string(FindingKind kind) noexcept {
  constexpr const char* kNames[] = {"race", "deadlock", "order dependence", "failure"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace coord::sim
