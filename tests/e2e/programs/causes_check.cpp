// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compares the parts of every gap in a recording of `causes` with what the simulated device knows:
// at each instant before an operation, what delayed its stream.
//
//   causes_check TRACE TRUTH
//
// These must be equal to the nanosecond: events, the legacy stream, memory waits, and the host's
// part by what its thread did. A trace does not distinguish, so these are compared as one sum: the
// time that a device takes to start an operation, and other users of what it needed.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/analyses.h"
#include "trace/read/reader.h"

namespace {

using namespace streamscope;
using streamscope::WaitCause;
using trace::Id;
using trace::Ns;

struct Hold {
  int event;
  trace::Int by;
  Ns until_ns;
};

struct Item {
  trace::Int call_number;
  int stream, is_work, is_memory_wait;
  Ns called_ns, reached_ns, begin_ns, end_ns;
  std::vector<Hold> holds;
};

using Split = std::map<WaitCause, Ns>;

bool on_device(WaitCause cause) {
  switch (cause) {
    case WaitCause::kStart:
    case WaitCause::kUnknown:
    case WaitCause::kCopyEngine:
    case WaitCause::kSmFull:
    case WaitCause::kQueueAliasing:
    case WaitCause::kHostFunction:
      return true;
    default:
      return false;
  }
}

// What the calls of a thread show about an instant.
class Threads {
 public:
  explicit Threads(const trace::Trace& trace) : calls_(trace.thread.size()) {
    const auto add = [&](const auto& rows, auto is_blocking) {
      for (Id row = 0; row < rows.size(); ++row) {
        calls_.at(rows.thread_id[row])
            .push_back({rows.start_ns[row], rows.end_ns[row], is_blocking(row)});
      }
    };
    const auto never = [](Id) { return false; };
    add(trace.api_call, never);
    add(trace.event_record, never);
    add(trace.event_wait, never);
    add(trace.host_sync, [&](Id row) {
      const auto kind = trace.host_sync.kind[row];
      const bool query = kind == trace::kStreamQuery || kind == trace::kEventQuery;
      return !query || trace::call_count(trace.host_sync, row) > 1;  // a loop that polls
    });
    for (auto& calls : calls_) {
      std::sort(calls.begin(), calls.end(),
                [](const Call& a, const Call& b) { return a.start_ns < b.start_ns; });
    }
  }
  // Adds the interval, in which the thread was about to issue, to the host's causes.
  void split(Id thread, Ns from, Ns to, Split& split) const {
    Ns outside = to - from;
    const auto& calls = calls_.at(thread);
    auto call = std::upper_bound(calls.begin(), calls.end(), from,
                                 [](Ns at, const Call& c) { return at < c.start_ns; });
    if (call != calls.begin()) --call;
    for (; call != calls.end() && call->start_ns < to; ++call) {
      const Ns within =
          std::max<Ns>(0, std::min(call->end_ns, to) - std::max(call->start_ns, from));
      if (within == 0) continue;
      split[call->blocking ? WaitCause::kHostSync : WaitCause::kHostCall] += within;
      outside -= within;
    }
    if (outside > 0) split[WaitCause::kHost] += outside;
  }

 private:
  struct Call {
    Ns start_ns, end_ns;
    bool blocking;
  };
  std::vector<std::vector<Call>> calls_;
};

std::vector<Item> read_truth(const char* path) {
  std::vector<Item> items;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Item item;
    fields >> item.call_number >> item.stream >> item.is_work >> item.is_memory_wait >>
        item.called_ns >> item.reached_ns >> item.begin_ns >> item.end_ns;
    for (Hold hold; fields >> hold.event >> hold.by >> hold.until_ns;) item.holds.push_back(hold);
    items.push_back(std::move(item));
  }
  return items;
}

// At every instant of the gap, the first of these that holds: the first wait in the stream whose
// condition is not met; the legacy stream, once the operation is called; the host, which has not
// called or is in the call; the device.
Split truth_of(const Item& op, const std::vector<const Item*>& waits, Ns from, Ns returned_ns,
               Id thread, const Threads& threads) {
  std::vector<Ns> instants{from, op.begin_ns, op.called_ns, returned_ns};
  for (const Item* wait : waits) {
    instants.push_back(wait->called_ns);
    if (wait->is_memory_wait) instants.push_back(wait->end_ns);
    for (const Hold& hold : wait->holds) instants.push_back(hold.until_ns);
  }
  for (const Hold& hold : op.holds) instants.push_back(hold.until_ns);
  std::sort(instants.begin(), instants.end());
  Split split;
  for (size_t i = 0; i + 1 < instants.size(); ++i) {
    const Ns at = instants[i], next = instants[i + 1];
    if (at < from || next > op.begin_ns || at == next) continue;
    const auto holds = [&](const Item& item, bool event) {
      return std::any_of(item.holds.begin(), item.holds.end(), [&](const Hold& hold) {
        return (hold.event != 0) == event && hold.until_ns > at;
      });
    };
    const WaitCause cause = [&] {
      for (const Item* wait : waits) {
        if (wait->called_ns > at) continue;
        if (holds(*wait, true)) return WaitCause::kEvent;
        if (wait->is_memory_wait && wait->end_ns > at) return WaitCause::kMemoryWait;
      }
      if (at < op.called_ns) return WaitCause::kHost;
      if (holds(op, false)) return WaitCause::kLegacyStream;
      return at < returned_ns ? WaitCause::kLaunch : WaitCause::kStart;
    }();
    if (cause == WaitCause::kHost) {
      threads.split(thread, at, next, split);
    } else {
      split[cause] += next - at;
    }
  }
  return split;
}

std::string to_text(const Split& split) {
  std::string text;
  for (const auto& [cause, ns] : split)
    text += " " + std::string(to_string(cause)) + "=" + std::to_string(ns);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const trace::Trace trace = trace::read(argv[1]);
  const std::vector<Item> items = read_truth(argv[2]);
  analysis::Analyses analyses(trace);
  std::map<Id, Split> found;
  Ns total = 0, unknown = 0;
  for (const analysis::WaitPart& part : analyses.waits()) {
    const WaitCause cause = on_device(part.cause) ? WaitCause::kStart : part.cause;
    found[part.op][cause] += part.duration_ns;
    total += part.duration_ns;
    unknown += part.cause == WaitCause::kUnknown ? part.duration_ns : 0;
  }
  std::map<trace::Int, Id> op_of;
  for (Id op = 0; op < trace.op.size(); ++op) op_of[trace.op.call_number[op]] = op;
  const Threads threads(trace);
  std::map<int, std::vector<const Item*>> waits;  // by stream: since its last work
  std::map<int, Ns> busy_until;
  size_t compared = 0, wrong = 0;
  Split sums;
  for (const Item& item : items) {
    if (!item.is_work) {
      waits[item.stream].push_back(&item);
      continue;
    }
    const auto known = op_of.find(item.call_number);
    if (known == op_of.end()) {
      std::printf("work %lld is not in the trace\n", static_cast<long long>(item.call_number));
      return 1;
    }
    const Id op = known->second;
    const analysis::Issue issue = analyses.order().issue(op);
    const auto before = busy_until.find(item.stream);
    const Ns from = before == busy_until.end() ? item.called_ns : before->second;
    if (from < item.begin_ns) {
      const Split truth =
          truth_of(item, waits[item.stream], from, issue.end_ns, issue.thread_id, threads);
      for (const auto& [cause, ns] : truth) sums[cause] += ns;
      ++compared;
      if (truth != found[op] && wrong++ < 10) {
        std::printf("op %u:\n  truth%s\n  found%s\n", op, to_text(truth).c_str(),
                    to_text(found[op]).c_str());
      }
    }
    busy_until[item.stream] = std::max(from, item.end_ns);
    waits[item.stream].clear();
  }
  std::printf("%zu of %zu gaps as the device knows them;%s; unknown %.2f %%\n", compared - wrong,
              compared, to_text(sums).c_str(),
              total > 0 ? 100.0 * static_cast<double>(unknown) / static_cast<double>(total) : 0.0);
  return wrong > 0 || compared == 0 ? 1 : 0;
}
