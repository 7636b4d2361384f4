// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Explains simulated devices on which nothing can happen anymore.

#include <algorithm>
#include <atomic>
#include <map>
#include <sstream>

#include "sim/engine.h"

namespace coord::sim {

namespace {

std::string quoted(std::string_view name, std::uint32_t stream) {
  return name.empty() ? "stream " + std::to_string(stream) : "\"" + std::string(name) + "\"";
}

}  // namespace

const char* describe(OpKind kind) noexcept {
  constexpr const char* kTexts[] = {"kernel",
                                    "copy to the device",
                                    "copy to the host",
                                    "copy within the device",
                                    "copy between devices",
                                    "memset",
                                    "host function",
                                    "memory wait",
                                    "memory write",
                                    "event record",
                                    "event wait",
                                    "allocation",
                                    "memory release",
                                    "graph launch",
                                    "graph launch"};
  return kTexts[static_cast<std::size_t>(kind)];
}

std::vector<Engine::Blocked> Engine::blocked_streams() const {
  const std::vector<std::uint32_t> all = pending();
  // The first operation of each stream, and which pending operations must end before it: the engine
  // keeps only the other direction.
  std::map<std::uint32_t, std::uint32_t> first_of;                // stream -> slot
  std::map<std::uint32_t, std::vector<std::uint32_t>> waits_for;  // slot -> streams
  for (const std::uint32_t slot : all) first_of.try_emplace(ops_[slot].stream, slot);
  const auto is_first = [&](std::uint32_t slot) { return first_of[ops_[slot].stream] == slot; };
  for (const std::uint32_t slot : all) {
    const Op& op = ops_[slot];
    for (const std::uint32_t successor : op.successors) {
      if (is_first(successor)) waits_for[successor].push_back(op.stream);
    }
  }

  std::vector<Blocked> blocked;
  for (const auto& [stream, slot] : first_of) {
    const Op& first = ops_[slot];
    Blocked entry{.stream = stream, .waits_for = waits_for[slot]};
    const bool spinning = first.kind == OpKind::kKernel && first.begin_ns >= 0;
    const bool on_memory = first.kind == OpKind::kMemoryWait || spinning;
    const char* how = ", behind stream ";
    const auto waits_for_those = [&](const auto& wanted) {
      for (const std::uint32_t other : all) {
        if (wanted(ops_[other])) entry.waits_for.push_back(ops_[other].stream);
      }
    };
    std::ostringstream reason;
    reason << describe(first.kind);
    if (first.kind == OpKind::kKernel) reason << " " << first.name;
    if (on_memory && first.address != nullptr) {
      const std::uint64_t value =
          std::atomic_ref<std::uint64_t>(*first.address).load(std::memory_order_acquire);
      reason << (spinning ? ", which spins" : "") << " for the value " << first.value << " at "
             << static_cast<const void*>(first.address) << ", which is " << value;
      how = "; to be written in stream ";
      waits_for_those([&](const Op& op) {
        return op.kind == OpKind::kMemoryWrite && op.address == first.address &&
               static_cast<std::int64_t>(op.value - first.value) >= 0;
      });
      if (entry.waits_for.empty()) reason << "; no pending operation writes it";
    } else if (first.unmet == 0 && first.channel != kNoChannel && queues(first)) {
      // Nothing to wait for, but it has not run.
      const auto& channel = device_for(first).channels[first.channel];
      if (std::ranges::find(channel, slot) != channel.end()) {
        how = ", in the same hardware queue as blocked work of stream ";
        entry.waits_for.push_back(ops_[channel.front()].stream);
      } else {
        how = ", without a free multiprocessor next to the spinning kernel of stream ";
        waits_for_those([&, device = streams_[stream].device](const Op& op) {
          return op.kind == OpKind::kKernel && op.begin_ns >= 0 && device_of(op.stream) == device;
        });
      }
    } else if (first.unmet == 0 && first.kind == OpKind::kHostFunction && first.begin_ns < 0) {
      how = ", behind the host function of stream ";
      waits_for_those(
          [](const Op& op) { return op.kind == OpKind::kHostFunction && op.begin_ns >= 0; });
    } else if (first.kind == OpKind::kHostFunction && first.begin_ns >= 0) {
      reason << ", which does not return";
    }
    std::sort(entry.waits_for.begin(), entry.waits_for.end());
    entry.waits_for.erase(std::unique(entry.waits_for.begin(), entry.waits_for.end()),
                          entry.waits_for.end());
    for (std::size_t i = 0; i < entry.waits_for.size(); ++i) {
      const std::uint32_t other = entry.waits_for[i];
      reason << (i > 0 ? " or stream " : how) << quoted(streams_[other].name, other);
      if (on_memory) reason << " behind its " << describe(ops_[first_of[other]].kind);
    }
    entry.reason = reason.str();
    blocked.push_back(std::move(entry));
  }
  return blocked;
}

std::string Engine::explain_stuck() const {
  const std::vector<Blocked> blocked = blocked_streams();
  std::ostringstream text;
  for (const Blocked& entry : blocked) {
    text << "\n  stream " << quoted(streams_[entry.stream].name, entry.stream) << ": "
         << entry.reason;
  }

  // A cycle: follow the first stream that each one waits for until one repeats.
  const auto find = [&](std::uint32_t stream) {
    return std::ranges::find_if(blocked,
                                [&](const Blocked& entry) { return entry.stream == stream; });
  };
  for (const Blocked& from : blocked) {
    std::vector<std::uint32_t> path;
    auto at = find(from.stream);
    while (at != blocked.end() && std::ranges::find(path, at->stream) == path.end()) {
      path.push_back(at->stream);
      at = at->waits_for.empty() ? blocked.end() : find(at->waits_for.front());
    }
    if (at == blocked.end() || at->stream != from.stream) continue;
    text << "\n  cycle: ";
    for (std::uint32_t stream : path) text << quoted(streams_[stream].name, stream) << " -> ";
    text << quoted(streams_[from.stream].name, from.stream);
    break;
  }
  return text.str();
}

}  // namespace coord::sim
