// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// sync-in-iteration (SS302): synchronizations in each iteration. While the host waits it launches
//   nothing, so that the device has nothing to do afterwards: what it costs is not the time inside
//   the call but the run-ahead that is lost. One finding for those that read a value (a copy of at
//   most 64 KiB to the host comes right before), one for the others, as they need other repairs;
//   each names its places, and what every one of them alone would save. Evidence: calls, times, and
//   stacks for the lines. The gain comes from a replay of the steady part without these calls; a
//   value that is read, and the call that copies it, are gone too. An iteration takes at least as
//   long as the device is busy in it: a host that waits while the device works loses nothing. Known
//   false alarm: a value without which the host cannot go on.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "../call_sites.h"
#include "../iterations/value_reads.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

// The synchronizations of one call at one line.
struct SyncSite {
  Id first = kNoId;
  std::string line;
  size_t count = 0, read_count = 0;
  Ns blocked_ns = 0, last_ns = kUnknownNs;
  Change change;

  bool reads_values() const { return read_count * 2 > count; }
};

// Those of each iteration, the most frequent first.
std::vector<SyncSite> sync_sites(Analyses& analyses, const Iterations& iterations) {
  const Trace& trace = analyses.trace();
  const auto& syncs = trace.host_sync;
  const std::vector<Id> all = steady_syncs(trace, iterations);
  if (all.size() * 2 < iterations.steady_count()) return {};
  const ValueReads reads(analyses);
  const std::vector<std::string> call_sites = analysis::call_sites(trace);
  std::map<std::pair<Id, std::string>, SyncSite> sites;  // by name and line
  for (const Id sync : all) {
    const Id stack = syncs.stack_id[sync];
    const std::string line = stack < call_sites.size() ? call_sites[stack] : "";
    SyncSite& site = sites[{syncs.name_id[sync], line}];
    if (site.count++ == 0) {
      site.first = sync;
      site.line = line;
    }
    trace::add_to(site.blocked_ns, trace::between(syncs.start_ns[sync], syncs.end_ns[sync]));
    site.last_ns = syncs.start_ns[sync];
    site.read_count += reads.remove(trace, sync, site.change);
  }
  std::vector<SyncSite> frequent;
  for (auto& [key, site] : sites) {
    if (site.count * 2 >= iterations.steady_count()) frequent.push_back(std::move(site));
  }
  std::ranges::stable_sort(frequent, std::ranges::greater{}, [](const SyncSite& site) {
    return std::pair(site.count, site.blocked_ns);
  });
  return frequent;
}

// Orders the sites by what each alone would save, and says it of the first ones. Replays few.
std::string name_places(const IterationModel& model, std::vector<SyncSite>& sites) {
  constexpr size_t kMostReplays = 8, kMostNamed = 3;
  struct Place {
    Ns gain_ns;
    size_t site;
  };
  std::vector<Place> places;
  for (size_t i = 0; i < std::min(sites.size(), kMostReplays); ++i) {
    const Ns gain = model.bare_ns() - model.predicted_ns(sites[i].change);
    places.push_back({std::max<Ns>(0, gain), i});
  }
  std::ranges::stable_sort(places, std::greater{}, &Place::gain_ns);
  std::string text = "By place, each alone: ";
  for (size_t i = 0; i < std::min(places.size(), kMostNamed); ++i) {
    const SyncSite& site = sites[places[i].site];
    text += fmt::format(
        "{}{} ({}, {})", i == 0 ? "" : ", ", site.line.empty() ? "an unknown place" : site.line,
        times_each(site.count, model.iterations()),
        places[i].gain_ns == 0 ? "no gain"
                               : "−" + format_percent(places[i].gain_ns, model.bare_ns()));
  }
  if (sites.size() > kMostNamed)
    text += fmt::format(", and {}", format_count(sites.size() - kMostNamed, "more place"));
  std::swap(sites.front(), sites[places.front().site]);
  return text + ".";
}

// A finding for sites of the same kind, not empty.
void add_finding(Analyses& analyses, std::vector<SyncSite> sites, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  const Iterations& iterations = model.iterations();
  const Trace& trace = analyses.trace();
  Change change;
  Ns blocked = 0, last = kUnknownNs;
  Finding finding;
  finding.count = 0;
  bool same_call = true;
  for (const SyncSite& site : sites) {
    change.add(site.change);
    trace::add_to(blocked, site.blocked_ns);
    last = std::max(last, site.last_ns);
    finding.count += site.count;
    same_call &=
        trace.host_sync.name_id[site.first] == trace.host_sync.name_id[sites.front().first];
  }
  if (!set_iteration_gain(model, change, model.shares().busy_ns, finding)) return;
  const std::string places = sites.size() > 1 ? " " + name_places(model, sites) : "";
  finding.host_sync = sites.front().first;
  finding.title = fmt::format(
      "each iteration {} {}{}, so the host cannot run ahead",
      same_call ? "calls " + sync_name(trace, finding.host_sync) : "synchronizes",
      times_each(finding.count, iterations),
      sites.size() > 1 ? fmt::format(" at {}", format_count(sites.size(), "place")) : "");
  const bool reads_values = sites.front().reads_values();
  finding.text = fmt::format(
      "{}The host is blocked for {} of an iteration; the rest is lost because it launches "
      "nothing meanwhile. {}{}",
      reads_values ? "It reads a value that the device computed. " : "",
      format_duration(blocked / static_cast<Ns>(iterations.steady_count())),
      reads_values
          ? "Keep the value on the device, add several up and read them together, or read it "
            "from pinned memory one iteration later."
          : "Remove it, or order the work with an event and a stream wait.",
      places);
  findings.add({reads_values}, last, [&] { return finding; });
}

}  // namespace

void find_syncs_in_iterations(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  std::map<bool, std::vector<SyncSite>> by_kind;
  for (SyncSite& site : sync_sites(analyses, model.iterations()))
    by_kind[site.reads_values()].push_back(std::move(site));
  for (auto& [reads, sites] : by_kind) add_finding(analyses, std::move(sites), findings);
}

}  // namespace streamscope::analysis
