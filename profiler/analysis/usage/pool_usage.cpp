// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pool_usage.h"
#include "trace/ns_math.h"

#include <algorithm>
#include <map>

namespace streamscope::analysis {
namespace {

using trace::Int;
using trace::kNoInt;

std::vector<PoolUsage> reported_pools(const Trace& trace) {
  std::vector<PoolUsage> pools(trace.pool.size());
  for (Id id = 0; id < pools.size(); ++id) {
    PoolUsage& pool = pools[id];
    pool.name = trace.text(trace.pool.name_id[id]);
    if (pool.name.empty()) pool.name = "pool " + std::to_string(id);
    pool.kind = static_cast<trace::PoolKind>(trace.pool.kind[id]);
    pool.process_id = trace.pool.process_id[id];
    pool.capacity = trace.pool.capacity[id];
  }
  const auto& sample = trace.pool_sample;
  for (size_t i = 0; i < sample.size(); ++i) {
    if (sample.pool_id[i] >= pools.size() || sample.start_ns[i] == kUnknownNs) continue;
    PoolUsage& pool = pools[sample.pool_id[i]];
    const auto known = [](Int value) { return value == kNoInt ? 0 : value; };
    const Int in_use = known(sample.in_use[i]);
    pool.steps.push_back({sample.start_ns[i], in_use, known(sample.available[i])});
    pool.high_water = std::max({pool.high_water, in_use, known(sample.high_water[i])});
    if (known(sample.wait_ns[i]) > 0) {
      ++pool.waits;
      trace::add_to(pool.wait_ns, sample.wait_ns[i]);
    }
  }
  for (PoolUsage& pool : pools) {
    std::ranges::stable_sort(pool.steps, {}, &PoolUsage::Step::at_ns);
    Int before = 0;
    for (const PoolUsage::Step& step : pool.steps) {
      pool.taken += step.in_use > before ? static_cast<uint64_t>(step.in_use - before) : 0;
      before = step.in_use;
    }
    pool.left = before;
  }
  std::erase_if(pools, [](const PoolUsage& pool) { return pool.steps.empty(); });
  return pools;
}

// Pools of one kind, one per process, derived from the lifetimes of their elements.
class DerivedPools {
 public:
  DerivedPools(trace::PoolKind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

  void add(Id process, Id row, Ns from, Ns to, Int size) {
    if (from == kUnknownNs) return;  // created before the recording
    auto& [pool, lives] = pools_[process];
    lives.add(from, to, row);
    pool.steps.push_back({from, size, 0});
    ++pool.taken;
    if (to != kUnknownNs) {
      pool.steps.push_back({to, -size, 0});
    } else {
      pool.left += size;
    }
  }
  // Converts changes into levels.
  void append_to(std::vector<PoolUsage>& result) {
    for (auto& [process, made] : pools_) {
      auto& [pool, lives] = made;
      lives.finish();
      pool.holders = std::make_shared<const Lifetimes>(std::move(lives));
      pool.name = name_;
      pool.kind = kind_;
      pool.derived = true;
      pool.process_id = process;
      // At the same instant, releases come before acquisitions.
      std::ranges::stable_sort(pool.steps, [](const auto& a, const auto& b) {
        return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.in_use < b.in_use;
      });
      Int in_use = 0;
      for (PoolUsage::Step& step : pool.steps) {
        in_use += step.in_use;
        step.in_use = in_use;
        pool.high_water = std::max(pool.high_water, in_use);
      }
      result.push_back(std::move(pool));
    }
  }

 private:
  trace::PoolKind kind_;
  std::string name_;
  std::map<Id, std::pair<PoolUsage, Lifetimes>> pools_;
};

}  // namespace

std::vector<PoolUsage> pool_usage(const Trace& trace) {
  std::vector<PoolUsage> result = reported_pools(trace);
  DerivedPools streams(trace::kStreamPool, "streams alive"),
      events(trace::kEventPool, "events alive");
  for (Id id = 0; id < trace.stream.size(); ++id)
    streams.add(trace.process_of_stream(id), id, trace.stream.created_ns[id],
                trace.stream.destroyed_ns[id], 1);
  for (Id id = 0; id < trace.event.size(); ++id)
    events.add(trace.event.process_id[id], id, trace.event.created_ns[id],
               trace.event.destroyed_ns[id], 1);
  streams.append_to(result);
  events.append_to(result);
  const auto& allocation = trace.allocation;
  for (const Term& kind : kMemoryPools) {
    DerivedPools memory(trace::kMemoryPool, std::string(kind.name));
    for (Id id = 0; id < allocation.size(); ++id) {
      if (allocation.kind[id] == kind.number && allocation.bytes[id] != kNoInt)
        memory.add(allocation.process_id[id], id, allocation.allocated_ns[id],
                   allocation.freed_ns[id], allocation.bytes[id]);
    }
    memory.append_to(result);
  }
  return result;
}

}  // namespace streamscope::analysis
