// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "wait_for_words.h"

#include <fmt/format.h>

#include "analysis/labels.h"

namespace streamscope::analysis {

using Why = WaitFor::Why;
using Kind = WaitFor::Kind;

std::string call_name(const Trace& trace, const WaitFor::Node& node) {
  if (node.kind == Kind::kThread) return "waiting for a lock";
  if (node.kind == Kind::kSync) return sync_name(trace, node.id);
  const std::string name = printable(trace.text(trace.api_call.name_id[node.id]));
  return name.empty() ? "a call" : name;
}

Id thread_of_call(const Trace& trace, const WaitFor::Node& node) {
  if (node.kind == Kind::kThread) return node.id;
  return node.kind == Kind::kSync ? trace.host_sync.thread_id[node.id]
                                  : trace.api_call.thread_id[node.id];
}

// `memory wait "wait" on stream 7 math`, `cudaStreamSynchronize on thread main`.
std::string name_of(const Trace& trace, const WaitFor::Node& node) {
  switch (node.kind) {
    case Kind::kOp:
      return op_on_stream(trace, node.id);
    case Kind::kRecord:
      return fmt::format("the record of {} on stream {}",
                         event_label(trace, trace.event_record.event_id[node.id]),
                         stream_label(trace, node.stream));
    case Kind::kWait:
      return fmt::format("stream {}'s wait for {}", stream_label(trace, node.stream),
                         event_label(trace, trace.event_wait.event_id[node.id]));
    case Kind::kThread:
      return thread_label(trace, node.id);
    default:
      return fmt::format("{} on {}", call_name(trace, node),
                         thread_label(trace, thread_of_call(trace, node)));
  }
}

std::string_view reason(Why why) {
  constexpr std::string_view kReasons[] = {
      " is queued behind",                                  // kStreamOrder
      " waits for",                                         // kEvent
      " waits, by the legacy-stream rule, for",             // kLegacyStream
      " needs",                                             // kMemory
      " needs a write that was last issued by",             // kNotIssued
      " waits for",                                         // kSynchronize
      " waits for all work, such as",                       // kDevice
      " is blocked by a stream queue that is full behind",  // kQueueFull
      " waits in the driver for",                           // kContext
      " waits for a lock held by",                          // kLock
      " runs in",                                           // kRunsIn
  };
  return kReasons[static_cast<size_t>(why)];
}

std::string party_of(const Trace& trace, const WaitFor::Node& node) {
  return node.on_host() ? thread_label(trace, thread_of_call(trace, node))
                        : "stream " + stream_label(trace, node.stream);
}

// A cycle as sentences: "A needs B, which is queued behind C, which needs ...".
std::string in_words(const Trace& trace, const WaitFor& graph,
                     const std::vector<WaitFor::Step>& cycle) {
  std::string text;
  for (size_t i = 0; i < cycle.size(); ++i) {
    const WaitFor::Node& node = graph.node(cycle[i].node);
    const bool ordered = cycle[i].why == Why::kStreamOrder;
    // Only the ends of a queue are named.
    if (i > 0 && ordered && cycle[i - 1].why == Why::kStreamOrder) continue;
    text += i == 0 ? name_of(trace, node) : fmt::format(" {}, which", name_of(trace, node));
    text += reason(cycle[i].why);
  }
  return text + " the first";
}

}  // namespace streamscope::analysis
