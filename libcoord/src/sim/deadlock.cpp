// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Explains a simulated device on which nothing can happen any more.

#include <algorithm>
#include <atomic>
#include <map>
#include <sstream>

#include "sim/engine.h"

namespace coord::sim {

namespace {

const char* describe(OpKind kind) {
  switch (kind) {
    case OpKind::kKernel:
      return "kernel";
    case OpKind::kCopyToDevice:
      return "copy to the device";
    case OpKind::kCopyToHost:
      return "copy to the host";
    case OpKind::kCopyInDevice:
      return "copy within the device";
    case OpKind::kMemset:
      return "memset";
    case OpKind::kHostFunction:
      return "host function";
    case OpKind::kMemoryWait:
      return "memory wait";
    case OpKind::kMemoryWrite:
      return "memory write";
    case OpKind::kRecord:
      return "event record";
    case OpKind::kWait:
      return "event wait";
  }
  return "operation";
}

std::string quoted(std::string_view name, std::uint32_t stream) {
  return name.empty() ? "stream " + std::to_string(stream) : "\"" + std::string(name) + "\"";
}

}  // namespace

std::vector<Engine::Blocked> Engine::blocked_streams() const {
  // Which pending operations must end before each stream's first one: the engine keeps only the
  // other direction.
  std::map<std::uint32_t, std::vector<std::uint32_t>>
      waits_for;  // first operation's slot -> streams
  for_each_pending([&](const Op& op) {
    for (std::uint32_t successor : op.successors) {
      if (streams_[ops_[successor].stream].head == successor)
        waits_for[successor].push_back(op.stream);
    }
  });

  std::vector<Blocked> blocked;
  for (std::uint32_t stream = 0; stream < streams_.size(); ++stream) {
    if (streams_[stream].head == kNoSlot) continue;
    const Op& first = ops_[streams_[stream].head];
    Blocked entry{.stream = stream};
    std::ostringstream reason;
    reason << describe(first.kind);
    if (first.kind == OpKind::kKernel) reason << " " << first.name;
    if (first.kind == OpKind::kMemoryWait) {
      const std::uint64_t value =
          std::atomic_ref<std::uint64_t>(*first.address).load(std::memory_order_acquire);
      reason << " for the value " << first.value << " at "
             << static_cast<const void*>(first.address) << ", which is " << value;
      for_each_pending([&](const Op& op) {
        if (op.kind == OpKind::kMemoryWrite && op.address == first.address &&
            static_cast<std::int64_t>(op.value - first.value) >= 0) {
          entry.waits_for.push_back(op.stream);
        }
      });
      if (entry.waits_for.empty()) reason << "; nothing that is pending writes it";
    } else {
      entry.waits_for = waits_for[streams_[stream].head];
    }
    std::sort(entry.waits_for.begin(), entry.waits_for.end());
    entry.waits_for.erase(std::unique(entry.waits_for.begin(), entry.waits_for.end()),
                          entry.waits_for.end());
    for (std::size_t i = 0; i < entry.waits_for.size(); ++i) {
      const std::uint32_t other = entry.waits_for[i];
      reason << (i > 0                               ? " or stream "
                 : first.kind == OpKind::kMemoryWait ? "; to be written in stream "
                                                     : ", behind stream ")
             << quoted(streams_[other].name, other);
      if (first.kind == OpKind::kMemoryWait) {
        reason << " behind its " << describe(ops_[streams_[other].head].kind);
      }
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

  // A cycle: follow the first stream that each one waits for until one comes again.
  const auto find = [&](std::uint32_t stream) {
    return std::find_if(blocked.begin(), blocked.end(),
                        [&](const Blocked& entry) { return entry.stream == stream; });
  };
  for (const Blocked& from : blocked) {
    std::vector<std::uint32_t> path;
    auto at = find(from.stream);
    while (at != blocked.end() && std::find(path.begin(), path.end(), at->stream) == path.end()) {
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
