// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Parses the JSON of Chrome traces: events with the members that have a meaning in PyTorch's
// profiler and other tools, and the properties of the whole file. kineto.cpp interprets them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model.h"
#include "unpack.h"

namespace streamscope::import {

/// A process or thread: a number, or a text that is not a number (number is then kNoInt).
struct JsonId {
  trace::Int number = trace::kNoInt;
  std::string_view text;
};

/// Missing members are empty or kNoInt. Texts are valid until the next event.
struct JsonEvent {
  char phase = 0;
  std::string_view category, name;
  JsonId pid, tid;
  trace::Ns start_ns = trace::kUnknownNs;  ///< on the timeline of the file
  trace::Ns duration_ns = trace::kUnknownNs;
  // Of args.
  std::string_view arg_name;    ///< metadata: the name given
  std::string_view call_stack;  ///< of an operator: "train.py(41): step;...", innermost first
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
  // Of a collective: of its kernel, or of the annotation around its call.
  std::string_view collective, group_name, group_description, element_type;
  trace::Int in_elements = trace::kNoInt, group_size = trace::kNoInt, sequence = trace::kNoInt;
  trace::Int source_rank = trace::kNoInt, target_rank = trace::kNoInt;
  std::vector<trace::Int> input_elements;  ///< of each tensor
  std::vector<std::string_view> input_types;
  // Of a stream, as named in our own export.
  std::string_view stream_name;
  trace::Int stream_kind = trace::kNoInt;
};

struct JsonDevice {
  trace::Int id = trace::kNoInt, memory_bytes = trace::kNoInt, sm_count = trace::kNoInt;
  trace::Int major = trace::kNoInt, minor = trace::kNoInt;
  std::string name;
};

/// The data outside the events.
struct JsonFacts {
  trace::Ns base_ns = trace::kUnknownNs;  ///< Unix time that times are relative to
  trace::Int rank = trace::kNoInt, world_size = trace::kNoInt;  ///< of a job
  std::vector<JsonDevice> devices;
  uint64_t event_count = 0;
  uint64_t bad_count = 0;  ///< elements that are not events
  bool truncated = false;  ///< the file ends, or becomes invalid, in the middle
};

/// Calls `on_event` for every event in order. Throws Error if `text`, of `file`, has no readable
/// events.
JsonFacts read_events(const std::filesystem::path& file, Text& text,
                      const std::function<void(const JsonEvent&)>& on_event);

/// True for annotations of collectives: "nccl:all_reduce". Of other annotations and operators no
/// arguments are read but the call stack.
bool describes_collective(std::string_view annotation);

/// Longest text that the parser accepts, and the padding it needs after it.
size_t most_json_bytes();
size_t json_padding();

}  // namespace streamscope::import
