// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The JSON of Chrome traces, taken apart: events with those members that PyTorch's profiler and
// other tools give a meaning, and the facts about the whole file. What they mean is left to
// kineto.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model.h"
#include "unpack.h"

namespace streamscope::import {

/// A process or thread: a number, or a text that is none (number is then kNoInt).
struct JsonId {
  trace::Int number = trace::kNoInt;
  std::string_view text;
};

/// Members that are missing are empty or kNoInt. Texts live until the next event.
struct JsonEvent {
  char phase = 0;
  std::string_view category, name;
  JsonId pid, tid;
  trace::Ns start_ns = trace::kUnknownNs;  ///< on the axis of the file
  trace::Ns duration_ns = trace::kUnknownNs;
  // Of args.
  std::string_view arg_name;  ///< metadata: the name given
  trace::Int correlation = trace::kNoInt;
  trace::Int device = trace::kNoInt, context = trace::kNoInt, stream = trace::kNoInt;
  trace::Int bytes = trace::kNoInt;
  trace::Int registers = trace::kNoInt, shared_bytes = trace::kNoInt;
  trace::Int grid[3] = {trace::kNoInt, trace::kNoInt, trace::kNoInt};
  trace::Int block[3] = {trace::kNoInt, trace::kNoInt, trace::kNoInt};
  trace::Int graph_node = trace::kNoInt, channel = trace::kNoInt;
  trace::Int event = trace::kNoInt;         ///< of a record
  trace::Int waited_event = trace::kNoInt;  ///< of a wait
  trace::Int record_correlation = trace::kNoInt, record_stream = trace::kNoInt;
  // Of a stream, as our own export names it.
  std::string_view stream_name;
  trace::Int stream_kind = trace::kNoInt;
};

struct JsonDevice {
  trace::Int id = trace::kNoInt, memory_bytes = trace::kNoInt, sm_count = trace::kNoInt;
  trace::Int major = trace::kNoInt, minor = trace::kNoInt;
  std::string name;
};

/// What stands beside the events.
struct JsonFacts {
  trace::Ns base_ns = trace::kUnknownNs;  ///< Unix time that times are relative to
  trace::Int rank = trace::kNoInt;
  std::vector<JsonDevice> devices;
  uint64_t event_count = 0;
  uint64_t bad_count = 0;  ///< elements that are no events
  bool truncated = false;  ///< the file ends, or stops making sense, in the middle
};

/// Calls `on_event` for every event in order. Throws Error if `text`, of `file`, holds none that
/// can be read.
JsonFacts read_events(const std::filesystem::path& file, Text& text,
                      const std::function<void(const JsonEvent&)>& on_event);

/// Most text that the parser takes, and the room it needs behind it.
size_t most_json_bytes();
size_t json_padding();

}  // namespace streamscope::import
