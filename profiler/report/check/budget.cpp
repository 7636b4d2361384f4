// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <ranges>

#include "analysis/analyses.h"
#include "analysis/delay/critical_path.h"
#include "analysis/delay/overlap.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/units.h"
#include "report/sections/info.h"
#include "report/sections/job_document.h"
#include "trace/error.h"
#include "vocabulary/range_name.h"
#include "vocabulary/read_number.h"
#include "vocabulary/time_text.h"

namespace streamscope::report {
namespace {

using trace::Id;
using trace::Ns;
using trace::Trace;

constexpr size_t kMostBytes = 1 << 20;  // a budget file has a few lines

enum class BudgetUnit { kTime, kShare, kNumber };

struct BudgetKind {
  std::string_view name;
  BudgetUnit unit;
  bool of_trace, of_job;  // what can be measured on
  std::string_view takes = "";

  bool is_for(CheckSubject subject) const {
    return subject == CheckSubject::kTrace ? of_trace : of_job;
  }
};

constexpr BudgetKind kBudgetKinds[] = {
    {"iteration", BudgetUnit::kTime, true, true},
    {"critical-path", BudgetUnit::kTime, true, false},
    {"wait", BudgetUnit::kTime, true, false, " CAUSE"},
    {"overlap", BudgetUnit::kShare, true, false},
    {"waits-per-iteration", BudgetUnit::kNumber, true, false},
    {"overhead", BudgetUnit::kShare, true, false},
    {"waiting", BudgetUnit::kShare, false, true},
    {"hidden-communication", BudgetUnit::kShare, false, true},
    {"largest-delay", BudgetUnit::kShare, false, true},
};  // by Budget::What

BudgetUnit unit_of(Budget::What what) { return kBudgetKinds[what].unit; }

std::string names_for(CheckSubject subject) {
  std::string names;
  for (const BudgetKind& kind : kBudgetKinds) {
    if (kind.is_for(subject)) names += fmt::format("{}{}, ", kind.name, kind.takes);
  }
  return names + "assert EXPR";
}

// A line up to a # that is not in quotes.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && c == '#') return line.substr(0, i);
    if (quote != 0 && c == '\\') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    }
  }
  return line;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
    const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

class Parser {
 public:
  Parser(std::filesystem::path file, std::string iteration, CheckSubject subject)
      : file_(std::move(file)), iteration_(std::move(iteration)), subject_(subject) {}

  void take(std::string_view line) {
    ++line_;
    line = without_comment(line);
    std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    if (words[0] == kAssert) return take_assertion(line);
    Budget budget;
    budget.what = kind_of(words[0]);
    words.erase(words.begin());
    if (budget.what == Budget::kWait) {
      if (words.empty()) fail("wait needs a cause", "add one, such as event_wait");
      budget.cause = cause(words[0]);
      words.erase(words.begin());
    }
    if (budget.what == Budget::kWaitsPerIteration) {
      if (iteration_.empty())
        fail("waits-per-iteration needs an iteration", "add --iteration nvtx:NAME");
      budget.iteration = iteration_;
    }
    if (words.size() < 2 || words.size() > 3 || (words[0] != "<=" && words[0] != ">="))
      fail("is not a limit", "write <= or >=, a number and its unit");
    budget.at_least = words[0] == ">=";
    std::string amount(words[1]);
    if (words.size() == 3) amount += words[2];
    budget.limit = value(amount, budget.what);
    const auto& budgets = read_.budgets;
    const bool again = std::any_of(budgets.begin(), budgets.end(), [&](const Budget& other) {
      return other.text() == budget.text() && other.at_least == budget.at_least;
    });
    if (again) fail("'" + budget.text() + "' already has such a limit", "keep one of them");
    read_.budgets.push_back(std::move(budget));
  }
  BudgetFile done() {
    if (read_.budgets.empty() && read_.assertions.empty())
      throw Error(file_, "contains no budget", "see streamscope check --help");
    return std::move(read_);
  }

 private:
  static constexpr std::string_view kAssert = "assert";

  // Blanks take the place of what is before the assertion, so that columns are those of the line.
  void take_assertion(std::string_view line) {
    const size_t before = line.find(kAssert) + kAssert.size();
    const std::string text = std::string(before, ' ') + std::string(line.substr(before));
    const analysis::Assertion assertion = analysis::parse_assertion(text, place());
    if (std::ranges::find(read_.assertions, assertion) != read_.assertions.end())
      fail("the same assertion is already there", "keep one of them");
    read_.assertions.push_back(assertion);
  }
  Budget::What kind_of(std::string_view word) const {
    const auto* kind = std::ranges::find(kBudgetKinds, word, &BudgetKind::name);
    if (kind == std::end(kBudgetKinds)) {
      fail(fmt::format("there is no budget '{}'", word), "use one of " + names_for(subject_));
    }
    if (!kind->is_for(subject_)) {
      fail(fmt::format("'{}' is measured on {}", word,
                       kind->of_job ? "the folder of a run of many ranks, not on a trace"
                                    : "a trace, not on the folder of a run"),
           "use one of " + names_for(subject_));
    }
    return static_cast<Budget::What>(kind - std::begin(kBudgetKinds));
  }
  std::string place() const { return fmt::format("{}:{}", file_.string(), line_); }
  [[noreturn]] void fail(const std::string& cause, const std::string& remedy) const {
    throw Error(place(), cause, remedy);
  }
  streamscope::WaitCause cause(std::string_view name) const {
    if (const auto cause = wait_cause_named(name)) return *cause;
    const auto known = kWaitCauses | std::views::transform(&Term::name);
    fail(fmt::format("there is no cause '{}'", name),
         fmt::format("use one of {}", fmt::join(known.begin(), known.end(), ", ")));
  }
  double value(std::string_view text, Budget::What what) const {
    std::optional<double> number;
    const BudgetUnit needed = unit_of(what);
    const bool is_share = needed == BudgetUnit::kShare;
    if (needed == BudgetUnit::kTime) {
      if (text.ends_with('s')) number = parse_time_ns(text);  // a unit is required here
    } else {
      double parsed = 0;
      const auto [end, error] = read_number(text, parsed);
      const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
      if (error == std::errc() && std::isfinite(parsed) && unit == (is_share ? "%" : ""))
        number = is_share ? parsed / 100 : parsed;
    }
    if (!number || *number < 0) {
      fail("'" + std::string(text) + "' is not a valid limit here",
           needed == BudgetUnit::kTime ? "write a time: 12 ms"
           : is_share                  ? "write a share: 40 %"
                                       : "write a number");
    }
    return *number;
  }

  std::filesystem::path file_;
  std::string iteration_;
  CheckSubject subject_;
  size_t line_ = 0;
  BudgetFile read_;
};

std::optional<double> waited_ns(analysis::Analyses& analyses, streamscope::WaitCause cause) {
  if (analyses.by_start().empty()) return std::nullopt;
  double sum = 0;
  for (const analysis::WaitPart& part : analyses.waits()) {
    if (part.cause == cause) sum += static_cast<double>(part.duration_ns);
  }
  return sum;
}

// The share of the device whose copies overlap least with kernels.
std::optional<double> hidden_share(analysis::Analyses& analyses) {
  std::optional<double> least;
  for (const analysis::DeviceOverlap& device :
       analysis::overlap(analyses.trace(), analyses.by_start())) {
    if (device.copies.total_ns() == 0) continue;
    const double share =
        static_cast<double>(device.both.total_ns()) / static_cast<double>(device.copies.total_ns());
    least = std::min(least.value_or(share), share);
  }
  return least;
}

// Stream waits issued inside the iterations, per iteration.
std::optional<double> waits_per_iteration(const Trace& trace, const std::string& name) {
  struct Span {
    Ns start, end;
    Id process;
  };
  std::vector<Span> spans;
  for (Id id = 0; id < trace.range.size(); ++id) {
    if (!is_named(trace.text(trace.range.name_id[id]), name) ||
        trace.range.end_ns[id] == trace::kUnknownNs)
      continue;
    spans.push_back({trace.range.start_ns[id], trace.range.end_ns[id],
                     trace.process_of_thread(trace.range.thread_id[id])});
  }
  if (spans.empty()) return std::nullopt;
  std::ranges::sort(spans, {}, &Span::start);
  uint64_t inside = 0;
  for (Id id = 0; id < trace.event_wait.size(); ++id) {
    const Ns at = trace.event_wait.start_ns[id];
    const Id process = trace.process_of_thread(trace.event_wait.thread_id[id]);
    auto after = std::ranges::upper_bound(spans, at, {}, &Span::start);
    // Iterations of several processes overlap; a few steps back find the right one.
    for (int steps = 0; steps < 64 && after != spans.begin(); ++steps) {
      --after;
      if (after->process != process) continue;
      inside += at < after->end;
      break;
    }
  }
  return static_cast<double>(inside) / static_cast<double>(spans.size());
}

std::optional<double> measured(analysis::Analyses& analyses, const Info& info,
                               const Budget& budget) {
  switch (budget.what) {
    case Budget::kIteration:
      if (const analysis::IterationModel& model = analyses.iteration_model(); model.found())
        return static_cast<double>(model.iterations().median_ns);
      break;
    case Budget::kCriticalPath:
      if (const auto& path = analyses.path(); !path.empty())
        return static_cast<double>(path.back().end_ns - path.front().start_ns);
      break;
    case Budget::kWait:
      return waited_ns(analyses, budget.cause);
    case Budget::kOverlap:
      return hidden_share(analyses);
    case Budget::kWaitsPerIteration:
      return waits_per_iteration(analyses.trace(), budget.iteration);
    case Budget::kOverhead:
      if (info.duration_ns > 0)
        return static_cast<double>(info.overhead_ns) / static_cast<double>(info.duration_ns);
      break;
    default:  // of a job
      break;
  }
  return std::nullopt;
}

std::optional<double> measured(const job::Job& job, const Budget& budget) {
  if (job.steps.iterations.empty()) return std::nullopt;
  const JobFacts facts = facts_of(job);
  switch (budget.what) {
    case Budget::kIteration:
      return job.iteration_ns;
    case Budget::kWaiting:
      return facts.waiting_share;
    case Budget::kHiddenCommunication:
      return facts.least_hidden_share;
    case Budget::kLargestDelay:
      return job.delays.empty() ? 0 : job.delays.front().cost_ns / job.replayed_ns;
    default:  // of a trace
      return std::nullopt;
  }
}

template <class Measure>
std::vector<BudgetResult> results_of(const std::vector<Budget>& budgets, const Measure& measure) {
  std::vector<BudgetResult> results;
  for (const Budget& budget : budgets) {
    BudgetResult result{.budget = budget, .measured = measure(budget)};
    if (result.measured) {
      const bool met =
          budget.at_least ? *result.measured >= budget.limit : *result.measured <= budget.limit;
      result.outcome = met ? BudgetOutcome::kMet : BudgetOutcome::kExceeded;
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

std::string Budget::text() const {
  std::string result(kBudgetKinds[what].name);
  if (what == kWait) result += " " + std::string(stored_name(cause));
  if (what == kWaitsPerIteration) result += " " + iteration;
  return result;
}

std::string Budget::value_text(double value) const {
  switch (unit_of(what)) {
    case BudgetUnit::kTime:
      return analysis::format_duration(static_cast<Ns>(std::min(value, 9e18)));
    case BudgetUnit::kShare:
      return fmt::format("{:.1f} %", value * 100);
    case BudgetUnit::kNumber:
      return fmt::format("{:.2f}", value);
  }
  return "";
}

std::string Budget::limit_text() const {
  return (at_least ? "at least " : "at most ") + value_text(limit);
}

std::string_view to_string(BudgetOutcome outcome) {
  constexpr std::string_view kNames[] = {"met", "exceeded", "not measurable"};
  return kNames[static_cast<size_t>(outcome)];
}

BudgetFile parse_budgets(std::string_view text, const std::filesystem::path& file,
                         const std::string& iteration, CheckSubject subject) {
  Parser parser(file, iteration, subject);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    parser.take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.done();
}

BudgetFile read_budgets(const std::filesystem::path& file, const std::string& iteration,
                        CheckSubject subject) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(file, "cannot be read", "check path and permissions");
  std::string text(kMostBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMostBytes)
    throw Error(file, "is too large for a budget file", "check the name");
  return parse_budgets(text, file, iteration, subject);
}

std::vector<BudgetResult> measure(analysis::Analyses& analyses, const Info& info,
                                  const std::vector<Budget>& budgets) {
  return results_of(budgets, [&](const Budget& budget) {
    return info.unfinished ? std::nullopt : measured(analyses, info, budget);
  });
}

std::vector<BudgetResult> measure(const job::Job& job, bool unfinished,
                                  const std::vector<Budget>& budgets) {
  return results_of(budgets, [&](const Budget& budget) {
    return unfinished ? std::nullopt : measured(job, budget);
  });
}

}  // namespace streamscope::report
