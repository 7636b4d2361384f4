// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// sync-in-iteration (SS302): synchronizations in each iteration, and synchronous copies of at most
//   64 KiB, which wait like them. While the host waits it launches nothing, so that the device has
//   nothing to do afterwards: what it costs is not the time inside the call but the run-ahead that
//   is lost. One finding for those that read a value (they copy it to the host, or such a copy
//   comes right before), one for copies to the device, one for the rest, as they need other
//   repairs; each names its places, and what every one of them alone would save. Evidence: calls,
//   times, and stacks for the lines. The gain comes from a replay of the steady part without these
//   calls; a value that is copied, and the call that copies it, are gone too. An iteration takes at
//   least as long as the device is busy in it: a host that waits while the device works loses
//   nothing. Known false alarms: a value without which the host cannot go on, and managed or
//   page-locked memory that the host reads without a copy; the advice says so where there is such
//   memory.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "../call_sites.h"
#include "../iterations/steady_syncs.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "steps.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

// What a synchronization is for, and so what repairs it.
enum class Purpose : uint8_t { kWaits, kUploads, kReads };

// The synchronizations of one call at one line.
struct SyncSite : SiteInIterations {
  size_t read_count = 0, upload_count = 0;
  Ns blocked_ns = 0, last_ns = kUnknownNs;

  Purpose purpose() const {
    if (read_count * 2 > count) return Purpose::kReads;
    return upload_count * 2 > count ? Purpose::kUploads : Purpose::kWaits;
  }
};

std::string_view what_for(Purpose purpose) {
  switch (purpose) {
    case Purpose::kReads:
      return "It reads a value that the device computed. ";
    case Purpose::kUploads:
      return "It waits for a copy to the device. ";
    case Purpose::kWaits:
      break;
  }
  return "";
}

std::string repair_of(const Trace& trace, Purpose purpose) {
  switch (purpose) {
    case Purpose::kReads:
      return "Keep the value on the device, add several up and read them together, or read it "
             "from pinned memory one iteration later.";
    case Purpose::kUploads:
      return "Keep the data on the device, make it there (cudaMemsetAsync), pass small values to "
             "the kernel as arguments, or copy from pinned memory without waiting "
             "(cudaMemcpyAsync" +
             std::string(language_of(trace) == Language::kCompiled ? ")."
                                                                   : ", non_blocking=True).");
    case Purpose::kWaits:
      break;
  }
  return "Remove it, or order the work with an event and a stream wait" + unless_host_reads(trace) +
         ".";
}

// Those of each iteration, the most frequent first.
std::vector<SyncSite> sync_sites(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  const IterationModel& model = analyses.iteration_model();
  const auto& syncs = trace.host_sync;
  const std::vector<Id>& all = model.syncs().all();
  const Iterations& iterations = model.iterations();
  if (all.size() * 2 < iterations.steady_count()) return {};
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
    model.syncs().remove(sync, site.change);
    const Id read = model.syncs().read_by(sync);
    site.read_count += read != kNoId;
    if (read != kNoId && model.syncs().copy_of(sync) == kNoId) {
      // To pageable memory its call waits, and the synchronization has nothing left to wait for.
      const Issue issue = analyses.order().issue(read);
      trace::add_to(site.blocked_ns, trace::between(issue.start_ns, issue.end_ns));
    }
    site.upload_count += model.syncs().uploads(sync);
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
  const Ns busy = model.shares().busy_ns;
  if (!set_iteration_gain(model, change, busy, finding)) return;
  const std::string places = sites.size() > 1 ? " " + name_places(model, busy, sites) : "";
  finding.host_sync = sites.front().first;
  finding.title = fmt::format(
      "each iteration {} {}{}, so the host cannot run ahead",
      same_call ? "calls " + sync_name(trace, finding.host_sync) : "synchronizes",
      times_each(finding.count, iterations),
      sites.size() > 1 ? fmt::format(" at {}", format_count(sites.size(), "place")) : "");
  const Purpose purpose = sites.front().purpose();
  finding.text = fmt::format(
      "{}The host is blocked for {} of an iteration; the rest is lost because it launches "
      "nothing meanwhile. {}{}",
      what_for(purpose), format_duration(blocked / static_cast<Ns>(iterations.steady_count())),
      repair_of(trace, purpose), places);
  findings.add({static_cast<uint64_t>(purpose)}, last, [&] { return finding; });
}

}  // namespace

void find_syncs_in_iterations(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  std::map<Purpose, std::vector<SyncSite>> by_purpose;
  for (SyncSite& site : sync_sites(analyses)) by_purpose[site.purpose()].push_back(std::move(site));
  for (auto& [purpose, sites] : by_purpose) add_finding(analyses, std::move(sites), findings);
}

}  // namespace streamscope::analysis
