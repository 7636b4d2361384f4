// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// churn-and-leak (SS210): streams or events are created again and again during the run instead of
//   being reused; or they are created like this and never destroyed, so that the driver's memory
//   grows. Creating and destroying an event costs 0.3 µs, a stream 5 µs. Evidence: creations and
//   destructions. Found if creations fall at 16 or more different points between ops, and 16
//   objects were destroyed while there was still work to come, or never; a growing pool does
//   neither. Leaks are reported only for processes that ended normally. No gain is estimated: the
//   calls cost host time, which may not matter.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "../units.h"
#include "families.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kLeastPlaces = 16;

// When a process issued ops.
struct IssueTimes {
  Ns first = kUnknownNs, last = kUnknownNs;
  std::vector<Ns> at;  // sorted; only for a process that creates many objects meanwhile
};

struct Made {
  std::vector<Ns> at;
  size_t renewed = 0;  // destroyed before the last op was issued
  size_t kept = 0;     // never destroyed
};

// Creations of streams and events of every process, relative to its ops.
class Creations {
 public:
  explicit Creations(Analyses& analyses) : analyses_(analyses), trace_(analyses.trace()) {
    for (std::vector<Made>& kind : made_) kind.resize(trace_.process.size());
    issued_.resize(trace_.process.size());
    each_issue([&](Id process, Ns at) {
      IssueTimes& ops = issued_[process];
      if (ops.first == kUnknownNs || at < ops.first) ops.first = at;
      ops.last = std::max(ops.last, at);
    });
    for (Id event = 0; event < trace_.event.size(); ++event)
      add(made_[0], trace_.event.process_id[event], trace_.event.created_ns[event],
          trace_.event.destroyed_ns[event]);
    for (Id stream = 0; stream < trace_.stream.size(); ++stream)
      add(made_[1], trace_.process_of_stream(stream), trace_.stream.created_ns[stream],
          trace_.stream.destroyed_ns[stream]);
    sort();
  }

  const Made& of(Id process, bool of_streams) const { return made_[of_streams][process]; }
  // Places between ops at which something was created.
  size_t places(Id process, bool of_streams) const {
    const auto& ops = issued_[process].at;
    size_t places = 0, last_place = 0;
    for (Ns at : of(process, of_streams).at) {
      const auto place =
          static_cast<size_t>(std::upper_bound(ops.begin(), ops.end(), at) - ops.begin());
      places += place != last_place;
      last_place = place;
    }
    return places;
  }

 private:
  template <class Visit>
  void each_issue(Visit visit) const {
    for (Id op = 0; op < trace_.op.size(); ++op) {
      const Id process = trace_.process_of_stream(trace_.op.stream_id[op]);
      const Ns at = analyses_.order().issue(op).end_ns;
      if (process < issued_.size() && at != kUnknownNs) visit(process, at);
    }
  }
  void add(std::vector<Made>& kind, Id process, Ns created, Ns destroyed) const {
    // Objects created before the first op are set-up.
    if (process >= kind.size() || created == kUnknownNs || issued_[process].first == kUnknownNs ||
        created < issued_[process].first)
      return;
    kind[process].at.push_back(created);
    kind[process].kept += destroyed == kUnknownNs;
    kind[process].renewed += destroyed != kUnknownNs && destroyed < issued_[process].last;
  }
  void sort() {
    const auto creates_many = [&](Id process) {
      return std::max(made_[0][process].at.size(), made_[1][process].at.size()) >= kLeastPlaces;
    };
    bool any = false;
    for (Id process = 0; process < issued_.size(); ++process) any |= creates_many(process);
    if (!any) return;
    each_issue([&](Id process, Ns at) {
      if (creates_many(process)) issued_[process].at.push_back(at);
    });
    for (IssueTimes& ops : issued_) std::sort(ops.at.begin(), ops.at.end());
    for (std::vector<Made>& kind : made_) {
      for (Made& made : kind) std::sort(made.at.begin(), made.at.end());
    }
  }

  Analyses& analyses_;
  const Trace& trace_;
  std::vector<IssueTimes> issued_;         // of each process
  std::array<std::vector<Made>, 2> made_;  // events and streams
};

// The calls of a process that create and destroy, from a given time on.
struct Calls {
  Ns time = 0;
  Id first = kNoId;  // the first that creates
};

Calls calls_of(const Trace& trace, Id process, bool of_streams, Ns from) {
  Calls result;
  for (Id call = 0; call < trace.api_call.size(); ++call) {
    const trace::Small kind = trace.api_call.kind[call];
    const bool creates = kind == (of_streams ? CallKind::kStreamCreate : CallKind::kEventCreate);
    const bool counts =
        creates || kind == (of_streams ? CallKind::kStreamDestroy : CallKind::kEventDestroy);
    const Ns start = trace.api_call.start_ns[call], end = trace.api_call.end_ns[call];
    if (!counts || end == kUnknownNs || end < from ||
        trace.process_of_thread(trace.api_call.thread_id[call]) != process)
      continue;
    trace::add_to(result.time, trace::between(start, end));
    if (creates && result.first == kNoId) result.first = call;
  }
  return result;
}

}  // namespace

void find_churn_and_leaks(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const Creations creations(analyses);
  for (const bool of_streams : {true, false}) {
    for (Id process = 0; process < trace.process.size(); ++process) {
      const Made& all = creations.of(process, of_streams);
      const size_t places = creations.places(process, of_streams);
      if (places < kLeastPlaces) continue;
      const bool leak = trace.process.complete[process] == 1 && all.kept >= kLeastPlaces &&
                        all.kept * 2 >= all.at.size();
      if (!leak && all.renewed < kLeastPlaces) continue;
      const Calls calls = calls_of(trace, process, of_streams, all.at.front());
      findings.add({process, of_streams}, all.at.back(), [&] {
        Finding finding;
        finding.start_ns = all.at.front();
        finding.end_ns = all.at.back();
        finding.place = analyses.places().of_call(calls.first);
        const char* noun = of_streams ? "stream" : "event";
        finding.title = leak ? fmt::format("{} created while work was running and never destroyed",
                                           format_count(all.kept, noun))
                             : fmt::format("{} created again while work was running",
                                           format_count(all.at.size(), noun));
        finding.text = fmt::format(
            "They were created at {} between ops{}. Create them once and reuse them, for example "
            "from a pool.",
            format_count(places, "place"),
            calls.time > 0 ? fmt::format("; creating and destroying took {} of host time",
                                         format_duration(calls.time))
                           : std::string());
        finding.count = leak ? all.kept : all.at.size();
        return finding;
      });
    }
  }
}

}  // namespace streamscope::analysis
