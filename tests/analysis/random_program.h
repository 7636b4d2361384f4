// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Random programs of streams, events, waits and host synchronizations, and the order that the rules
// give them, by brute force: the reference for the analyses.
#pragma once

#include <algorithm>
#include <bitset>
#include <random>
#include <vector>

#include "analysis/stream_ops.h"
#include "memory_trace.h"

namespace streamscope::analysis {

constexpr size_t kMaxItems = 256;
using Set = std::bitset<kMaxItems>;

struct ProgramItem {
  enum Kind { kOp, kRecord, kWait, kSync } kind;
  Id id, stream, thread;
  Ns at;                  // when it takes effect
  Ns start = 0, end = 0;  // of the call
  Id record = kNoId;      // waits and event syncs
  Id context = kNoId;
  trace::HostSyncKind sync = trace::kDeviceSynchronize;
  bool void_wait = false;
};

struct RandomProgram {
  MemoryTrace t;
  std::vector<ProgramItem> items;  // by `at`
};

inline RandomProgram random_program(uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](size_t n) { return static_cast<Id>(random() % n); };
  RandomProgram p;
  MemoryTrace& t = p.t;
  t.add_thread();
  if (pick(2)) t.add_context();
  const trace::StreamKind kinds[] = {trace::kLegacyStream,    trace::kBlockingStream,
                                     trace::kBlockingStream,  trace::kNonBlockingStream,
                                     trace::kPerThreadStream, trace::kUnknownStream};
  for (Id context = 0; context < t.trace.context.size(); ++context) {
    const size_t count = 2 + pick(4);
    for (size_t i = 0; i < count; ++i)
      t.add_stream(i == 0 ? trace::kLegacyStream : kinds[pick(6)], context);
  }
  for (Id stream = 0, context = kNoId; stream < t.trace.stream.size(); ++stream) {
    // One legacy stream per context.
    if (t.trace.stream.kind[stream] == trace::kLegacyStream &&
        t.trace.stream.context_id[stream] == context) {
      t.trace.stream.kind[stream] = trace::kBlockingStream;
    }
    context = t.trace.stream.context_id[stream];
  }
  std::vector<Ns> free_at(t.trace.thread.size(), 10);
  std::vector<std::pair<Ns, Id>> records;
  const bool legacy_used = pick(2);
  for (int i = 0; i < 90; ++i) {
    const Id thread = pick(free_at.size());
    const Ns start = free_at[thread];
    Ns end = (start / 100 + 1 + pick(3)) * 100 + i;  // distinct ends
    Id stream = pick(t.trace.stream.size());
    if (!legacy_used && t.trace.stream.kind[stream] == trace::kLegacyStream)
      stream = (stream + 1) % t.trace.stream.size();
    ProgramItem item{ProgramItem::kOp, 0, stream, thread, end};
    switch (pick(8)) {
      default:
        item.id = t.op(end, stream, kUnknownNs, kUnknownNs, thread);
        break;
      case 0:
      case 1:
        item.kind = ProgramItem::kRecord;
        item.id = t.record(end, stream, thread);
        records.push_back({end, item.id});
        break;
      case 2:
      case 3: {
        item.kind = ProgramItem::kWait;
        std::vector<Id> done;
        for (auto [at, id] : records) {
          if (at < start) done.push_back(id);
        }
        if (done.empty()) {
          item.void_wait = true;
          item.id = t.wait(end, stream, kNoId, trace::kNeverRecorded, thread);
        } else {
          item.record = done[pick(done.size())];
          item.id = t.wait(end, stream, item.record, trace::kBindingExact, thread);
        }
        break;
      }
      case 4: {
        item.kind = ProgramItem::kSync;
        item.at = start;
        end += 200;
        item.sync = static_cast<trace::HostSyncKind>(pick(5));
        item.context = t.trace.stream.context_id[stream];
        if (item.sync == trace::kEventSynchronize || item.sync == trace::kEventQuery) {
          for (auto [at, id] : records) {
            if (at < start) item.record = id;
          }
        }
        item.id = t.sync(item.sync, start, end, stream, item.record, thread, item.context);
        break;
      }
    }
    item.start = item.kind == ProgramItem::kSync ? start : end - 1;  // as MemoryTrace makes calls
    item.end = end;
    free_at[thread] = end + 1;
    p.items.push_back(item);
  }
  std::stable_sort(p.items.begin(), p.items.end(),
                   [](const ProgramItem& a, const ProgramItem& b) { return a.at < b.at; });
  return p;
}

// Which order of the host counts.
enum class HostRule {
  kNone,
  kOps,       // a synchronization comes before later ops of its thread
  kAll,       // ... and before all other later calls of its thread
  kObserved,  // ... and before calls of other threads that began after it had returned
};

// before[i]: items that are ordered before item i, by the rules read literally.
inline std::vector<Set> order_by_rules(const RandomProgram& p, HostRule host) {
  const auto& streams = p.t.trace.stream;
  const auto legacy = [&](Id s) { return streams.kind[s] == trace::kLegacyStream; };
  const auto blocking = [&](Id s) {
    return streams.kind[s] == trace::kBlockingStream || streams.kind[s] == trace::kPerThreadStream;
  };
  const auto same_context = [&](Id a, Id b) {
    return streams.context_id[a] == streams.context_id[b];
  };
  std::vector<Set> before(p.items.size());
  for (size_t i = 0; i < p.items.size(); ++i) {
    const ProgramItem& later = p.items[i];
    const auto after = [&](size_t j) {
      before[i] |= before[j];
      before[i].set(j);
    };
    for (size_t j = 0; j < i; ++j) {
      const ProgramItem& earlier = p.items[j];
      if (earlier.kind == ProgramItem::kSync) {
        const bool same_thread = later.thread == earlier.thread;
        if (host == HostRule::kOps && later.kind == ProgramItem::kOp && same_thread) after(j);
        if (host == HostRule::kAll && same_thread) after(j);
        if (host == HostRule::kObserved && (same_thread || earlier.end <= later.start)) after(j);
        continue;
      }
      if (earlier.void_wait || later.void_wait) continue;
      if (later.kind != ProgramItem::kSync) {
        if (earlier.stream == later.stream) after(j);
        if (same_context(earlier.stream, later.stream) &&
            ((legacy(earlier.stream) && blocking(later.stream)) ||
             (legacy(later.stream) && blocking(earlier.stream)))) {
          after(j);
        }
        if (later.kind == ProgramItem::kWait && earlier.kind == ProgramItem::kRecord &&
            earlier.id == later.record)
          after(j);
        continue;
      }
      switch (later.sync) {
        case trace::kDeviceSynchronize:
          if (streams.context_id[earlier.stream] == later.context) after(j);
          break;
        case trace::kStreamSynchronize:
        case trace::kStreamQuery:
          if (earlier.stream == later.stream ||
              (same_context(earlier.stream, later.stream) && legacy(later.stream) &&
               blocking(earlier.stream))) {
            after(j);
          }
          break;
        default:
          if (earlier.kind == ProgramItem::kRecord && earlier.id == later.record) after(j);
          break;
      }
    }
  }
  return before;
}

}  // namespace streamscope::analysis
