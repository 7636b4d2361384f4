// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// churn-and-leak (SS210): streams or events are created again and again while work is under way
//   instead of being used again (an event costs 0.3 µs to create and destroy, a stream 5 µs), or
//   they are created like this and never destroyed, so that memory of the driver grows. Evidence:
//   creations and destructions. Found where creations lie at 16 or more different places between
//   ops, and 16 objects were destroyed while there was still work to come, or never: a pool that
//   grows does neither. Leaks are told only of processes that ended in good order. No gain is
//   estimated: the calls cost the host time, which may not matter.
#include <fmt/format.h>

#include <algorithm>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "steps.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kLeastPlaces = 16;

// When a process issued ops.
struct IssueTimes {
  Ns first = kUnknownNs, last = kUnknownNs;
  std::vector<Ns> at;  // sorted; only of a process that creates a lot meanwhile
};

struct Made {
  std::vector<Ns> at;
  size_t renewed = 0;  // destroyed while there was still work to come
  size_t kept = 0;     // never destroyed
};

}  // namespace

void find_churn_and_leaks(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  std::vector<IssueTimes> issued(trace.process.size());
  const auto each_issue = [&](auto visit) {
    for (Id op = 0; op < trace.op.size(); ++op) {
      const Id process = trace.process_of_stream(trace.op.stream_id[op]);
      const Ns at = analyses.order().issue(op).end_ns;
      if (process < issued.size() && at != kUnknownNs) visit(process, at);
    }
  };
  each_issue([&](Id process, Ns at) {
    IssueTimes& ops = issued[process];
    if (ops.first == kUnknownNs || at < ops.first) ops.first = at;
    ops.last = std::max(ops.last, at);
  });

  std::vector<Made> events(trace.process.size()), streams(trace.process.size());
  const auto made = [&](std::vector<Made>& kind, Id process, Ns created, Ns destroyed) {
    // What was there before the first op is the program's stock.
    if (process >= kind.size() || created == kUnknownNs || issued[process].first == kUnknownNs ||
        created < issued[process].first) {
      return;
    }
    kind[process].at.push_back(created);
    kind[process].kept += destroyed == kUnknownNs;
    kind[process].renewed += destroyed != kUnknownNs && destroyed < issued[process].last;
  };
  for (Id event = 0; event < trace.event.size(); ++event)
    made(events, trace.event.process_id[event], trace.event.created_ns[event],
         trace.event.destroyed_ns[event]);
  for (Id stream = 0; stream < trace.stream.size(); ++stream)
    made(streams, trace.process_of_stream(stream), trace.stream.created_ns[stream],
         trace.stream.destroyed_ns[stream]);

  const auto creates_many = [&](Id process) {
    return std::max(events[process].at.size(), streams[process].at.size()) >= kLeastPlaces;
  };
  bool any = false;
  for (Id process = 0; process < trace.process.size(); ++process) any |= creates_many(process);
  if (!any) return;
  each_issue([&](Id process, Ns at) {
    if (creates_many(process)) issued[process].at.push_back(at);
  });
  for (IssueTimes& ops : issued) std::sort(ops.at.begin(), ops.at.end());

  constexpr trace::Small kStreamCreate = 14, kStreamDestroy = 15, kEventCreate = 7,
                         kEventDestroy = 8;
  for (const bool of_streams : {true, false}) {
    for (Id process = 0; process < trace.process.size(); ++process) {
      Made& all = (of_streams ? streams : events)[process];
      std::sort(all.at.begin(), all.at.end());
      size_t places = 0, last_place = 0;
      for (Ns at : all.at) {
        const auto& ops = issued[process].at;
        const size_t place =
            static_cast<size_t>(std::upper_bound(ops.begin(), ops.end(), at) - ops.begin());
        places += place != last_place;
        last_place = place;
      }
      if (places < kLeastPlaces) continue;
      const bool leak = trace.process.complete[process] == 1 && all.kept >= kLeastPlaces &&
                        all.kept * 2 >= all.at.size();
      if (!leak && all.renewed < kLeastPlaces) continue;
      Ns time = 0;
      Id first_call = kNoId;
      for (Id call = 0; call < trace.api_call.size(); ++call) {
        const trace::Small kind = trace.api_call.kind[call];
        const bool creates = kind == (of_streams ? kStreamCreate : kEventCreate);
        const bool counts = creates || kind == (of_streams ? kStreamDestroy : kEventDestroy);
        const Ns start = trace.api_call.start_ns[call], end = trace.api_call.end_ns[call];
        if (!counts || end == kUnknownNs || end < all.at.front() ||
            trace.process_of_thread(trace.api_call.thread_id[call]) != process) {
          continue;
        }
        trace::add_to(time, trace::between(start, end));
        if (creates && first_call == kNoId) first_call = call;
      }
      const Findings::Key key{process, of_streams};
      findings.add(key, all.at.back(), [&] {
        Finding finding;
        finding.start_ns = all.at.front();
        finding.end_ns = all.at.back();
        finding.place = analyses.places().of_call(first_call);
        const char* noun = of_streams ? "stream" : "event";
        finding.title = leak
                            ? fmt::format("{} created while work was under way and never destroyed",
                                          format_count(all.kept, noun))
                            : fmt::format("{} created anew while work was under way",
                                          format_count(all.at.size(), noun));
        finding.text = fmt::format(
            "They were created at {} between ops{}. Create them once and use them again, from a "
            "pool for instance.",
            format_count(places, "place"),
            time > 0 ? fmt::format("; creating and destroying took {} of host time",
                                   format_duration(time))
                     : std::string());
        return finding;
      });
      findings.find(key)->count = leak ? all.kept : all.at.size();
    }
  }
}

}  // namespace streamscope::analysis
