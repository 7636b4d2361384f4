// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "coord_waits.h"

#include <algorithm>
#include <utility>

#include "vocabulary/list_text.h"

namespace streamscope::record {
namespace {

constexpr uint32_t kMostParties = 10'000, kMostLinks = 100'000;
// coord_wait_party_kind and coord_wait_party_flags
constexpr uint8_t kOperation = 0, kThread = 1, kBarrier = 2;
constexpr uint8_t kUnpromised = 1, kInCycle = 2;

}  // namespace

void CoordWaits::describe(const ring::WaitsRecord& record) {
  waits_ = record;
  known_ = 0;
  links_.clear();
  reported_.reset();
  parties_.assign(std::min(record.party_count, kMostParties), std::nullopt);
  waits_.link_count = std::min(record.link_count, kMostLinks);
}

bool CoordWaits::describe(const ring::WaitPartyRecord& record) {
  if (record.index >= parties_.size() || parties_[record.index]) return false;
  parties_[record.index] = record;
  ++known_;
  finish_if_whole();
  return true;
}

bool CoordWaits::describe(const ring::WaitLinksRecord& record) {
  if (record.count > ring::WaitLinksRecord::kMost ||
      links_.size() + record.count > waits_.link_count)
    return false;
  for (uint16_t i = 0; i < record.count; ++i) {
    const ring::WaitLinksRecord::Link& link = record.links[i];
    if (link.from >= parties_.size() || link.to >= parties_.size()) return false;
    links_.push_back(link);
  }
  finish_if_whole();
  return true;
}

void CoordWaits::finish_if_whole() {
  if (known_ < parties_.size() || links_.size() < waits_.link_count) return;
  trace::HangReport whole = report();
  if (whole.verdict.empty()) {
    reported_.reset();
  } else if (waits_.given_up != 0) {
    trace::append_hang(run_.writer, process_, run_.to_ns(waits_.begin, waits_.flags), whole);
  } else {
    reported_ = std::move(whole);
  }
}

std::string CoordWaits::label(const ring::WaitPartyRecord& party) const {
  const std::string* text = run_.texts.find(party.label);
  return text != nullptr ? *text : "an unnamed object of libcoord";
}

trace::HangReport CoordWaits::report() const {
  trace::HangReport report;
  std::vector<std::string> cycle, unpromised;
  bool barrier = false;
  for (const auto& each : parties_) {
    if (!each) continue;
    const ring::WaitPartyRecord& party = *each;
    trace::HangReport::Node node;
    node.name = label(party);
    node.in_cycle = (party.state & kInCycle) != 0;
    if (party.party == kOperation) {
      node.kind = trace::kHangOperation;
      node.object = operations_.id(static_cast<uint32_t>(party.object));
    } else if (party.party == kThread && party.object != 0) {
      node.kind = trace::kHangThread;
      node.object = objects_.thread(static_cast<uint32_t>(party.object));
    }
    if (node.in_cycle) cycle.push_back(node.name);
    if ((party.state & kUnpromised) != 0) {
      // Barriers first: their missing participant has a name.
      const bool is_barrier = party.party == kBarrier;
      unpromised.insert(is_barrier ? unpromised.begin() : unpromised.end(), node.name);
      barrier |= is_barrier;
    }
    report.nodes.push_back(std::move(node));
  }
  for (const ring::WaitLinksRecord::Link& link : links_)
    report.edges.push_back({link.from, link.to, trace::kNeedsAll, " waits for"});
  report.alarm = true;
  if (!cycle.empty()) {
    report.verdict = "deadlock";
    report.headline = wait_for_each_other(cycle);
  } else if (!unpromised.empty()) {
    report.verdict = barrier ? "missing-participant" : "lost-signal";
    report.headline = unpromised.front();
  }
  report.text = report.verdict + ": " + report.headline + "\n";
  for (size_t i = 1; i < unpromised.size() && cycle.empty(); ++i)
    report.text += "  and: " + unpromised[i] + "\n";
  return report;
}

}  // namespace streamscope::record
