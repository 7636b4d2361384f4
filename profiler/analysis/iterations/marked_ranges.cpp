// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "marked_ranges.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include "trace/ns_math.h"
#include "vocabulary/range_name.h"

namespace streamscope::analysis {
namespace {

// By name and thread.
using Spans = std::map<std::pair<std::string_view, Id>, RangeSpans>;

// Joins the ranges of names that differ by the numbers at their end.
void join_numbered(Spans& spans) {
  constexpr size_t kManyNumbers = 16;  // of these some may recur, as in each epoch
  std::map<Spans::key_type, std::vector<Spans::iterator>> by_base;
  for (auto each = spans.begin(); each != spans.end(); ++each) {
    const auto& [name, thread] = each->first;
    const std::string_view base = without_last_numbers(name);
    if (base != name && names_a_step(base)) by_base[{base, thread}].push_back(each);
  }
  for (const auto& [base, names] : by_base) {
    const bool unique =
        std::ranges::all_of(names, [](const auto& each) { return each->second.size() == 1; });
    if (names.size() < 2 || (!unique && names.size() < kManyNumbers)) continue;
    auto& joined = spans[base];
    for (const auto& each : names) {
      joined.insert(joined.end(), each->second.begin(), each->second.end());
      spans.erase(each);
    }
  }
}

// By the program. In 2021 annotations had the category of operators.
bool may_be_marked(std::string_view name, std::string_view domain) {
  return !is_operator(domain) || domain == "Operator" || name.starts_with("ProfilerStep#");
}

// The host may be far ahead of the device, so the ranges themselves do not show the pace.
std::vector<Ns> done_of(const IssuedWork& work, const RangeSpans& spans) {
  std::vector<Ns> done;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Ns until = i + 1 < spans.size() ? spans[i + 1].first : spans[i].second;
    done.push_back(std::max(spans[i].second, i > 0 ? done[i - 1] : spans[i].second));
    const size_t next = work.first_issued(until);
    for (size_t op = work.first_issued(spans[i].first); op < next; ++op)
      done.back() = std::max(done.back(), work.end_ns(op));
  }
  return done;
}

// Sums of device time, stored for one op in kBlock.
class DeviceTime {
 public:
  explicit DeviceTime(const IssuedWork& work) : work_(work) {
    Ns sum = 0;
    for (size_t op = 0; op < work.size(); ++op) {
      if (op % kBlock == 0) sums_.push_back(sum);
      trace::add_to(sum, work.duration_ns(op));
    }
    if (work.size() % kBlock == 0) sums_.push_back(sum);
  }
  // Of all ops before this one.
  Ns before(size_t op) const {
    Ns sum = sums_[op / kBlock];
    for (size_t i = op / kBlock * kBlock; i < op; ++i) trace::add_to(sum, work_.duration_ns(i));
    return sum;
  }

 private:
  static constexpr size_t kBlock = 64;

  const IssuedWork& work_;
  std::vector<Ns> sums_;
};

}  // namespace

bool is_operator(std::string_view domain) {
  return domain == "cpu_op" || domain == "Operator" || domain == "python_function";
}

RangeSpans outermost(RangeSpans spans) {
  std::ranges::sort(spans);
  RangeSpans outer;
  for (const auto& span : spans) {
    if (outer.empty() || span.first >= outer.back().second) outer.push_back(span);
  }
  return outer;
}

std::map<Id, RangeSpans> ranges_named(const Trace& trace, std::string_view name, Unended unended) {
  const auto& range = trace.range;
  std::map<Id, RangeSpans> by_thread;
  for (Id id = 0; id < range.size(); ++id) {
    const bool ended = range.end_ns[id] != kUnknownNs;
    if (!is_named(trace.text(range.name_id[id]), name) || range.start_ns[id] == kUnknownNs ||
        (!ended && unended == Unended::kLeftOut))
      continue;
    by_thread[range.thread_id[id]].emplace_back(
        range.start_ns[id], ended ? range.end_ns[id] : std::numeric_limits<Ns>::max());
  }
  for (auto& [thread, spans] : by_thread) spans = outermost(std::move(spans));
  return by_thread;
}

std::string_view without_number(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != name.npos && digits > 0 && name[digits] == '#' ? name.substr(0, digits) : name;
}

bool names_a_step(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word : {"step", "iter", "batch", "frame", "execute_"}) {
    if (lower.find(word) != lower.npos) return true;
  }
  return false;
}

MarkedByName marked_ranges(const IssuedWork& work, const std::string& wanted) {
  Spans by_thread;
  const auto& range = work.trace().range;
  std::set<std::string_view> numbered;
  for (Id id = 0; id < range.size(); ++id) {
    const std::string_view whole = work.trace().text(range.name_id[id]);
    const std::string_view name = wanted.empty() ? without_number(whole) : wanted;
    if (wanted.empty() ? !may_be_marked(whole, work.trace().text(range.domain_id[id]))
                       : !is_named(whole, wanted))
      continue;
    if (name.empty() || range.start_ns[id] == kUnknownNs || range.end_ns[id] == kUnknownNs ||
        work.trace().process_of_thread(range.thread_id[id]) != work.process())
      continue;
    by_thread[{name, range.thread_id[id]}].emplace_back(range.start_ns[id], range.end_ns[id]);
    if (without_last_numbers(whole) != whole) numbered.insert(name);
  }
  if (by_thread.empty()) return {};
  if (wanted.empty()) join_numbered(by_thread);
  const DeviceTime device_time(work);
  const auto issued_before = [&](Ns at) { return device_time.before(work.first_issued(at)); };
  MarkedByName found;
  for (auto& [key, spans] : by_thread) {
    RangeSpans outer = outermost(std::move(spans));
    MarkedRanges& ranges = found[std::string(key.first)];
    ranges.numbered = numbered.contains(key.first);
    if (outer.size() <= ranges.spans.size()) continue;
    ranges.thread_id = key.second;
    ranges.spans = std::move(outer);
    ranges.done_ns = done_of(work, ranges.spans);
    ranges.device_ns =
        issued_before(ranges.spans.back().second) - issued_before(ranges.spans.front().first);
    ranges.inside_ns = 0;
    for (const auto& [start, end] : ranges.spans)
      ranges.inside_ns += issued_before(end) - issued_before(start);
  }
  return found;
}

std::vector<Ns> MarkedRanges::times() const {
  std::vector<Ns> times;
  for (size_t i = 1; i < done_ns.size(); ++i) times.push_back(done_ns[i] - done_ns[i - 1]);
  return times;
}

bool is_steady(const IssuedWork& work, const MarkedRanges& ranges, HeldOf held_of) {
  constexpr double kLeastInside = 0.75;
  constexpr double kLeastAfterStartUp = 0.25;
  const auto held = static_cast<double>(ranges.device_ns),
             inside = static_cast<double>(ranges.inside_ns);
  if (inside < kLeastInside * held) return false;  // as of most names, before all ops are looked at
  const size_t begin = work.first_issued(ranges.spans.front().first),
               end = work.first_issued(ranges.spans.back().second);
  const auto run = static_cast<double>(work.device_ns_around(0, begin, end));
  const bool holds = held_of == HeldOf::kRun
                         ? held >= kLeastCovered * run
                         : held >= kLeastAfterStartUp * run &&
                               held >= kLeastCovered * static_cast<double>(work.device_ns_around(
                                                           begin, begin, end));
  const size_t last = ranges.spans.size() - 1, middle = last / 2;
  const std::vector<Ns> times = ranges.times();
  return holds && fills_the_time(static_cast<double>(last - middle), upper_quartile(times),
                                 {times.begin() + static_cast<ptrdiff_t>(middle), times.end()},
                                 most_pauses(static_cast<double>(last), inside / run));
}

}  // namespace streamscope::analysis
