// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "kineto_collectives.h"

#include <algorithm>
#include <limits>
#include <string>

#include "vocabulary/collective_kind.h"

namespace streamscope::import {
namespace {

constexpr std::string_view kNccl = "nccl:", kGloo = "gloo:";

// Size of an element by PyTorch's names, in C++ and in its own words; 0: unknown.
Int bytes_of(std::string_view type) {
  struct Row {
    std::string_view name;
    Int bytes;
  };
  static constexpr Row kRows[] = {
      {"float", 4}, {"double", 8},       {"half", 2},           {"bfloat16", 2},
      {"int", 4},   {"long", 8},         {"long int", 8},       {"short", 2},
      {"char", 1},  {"signed char", 1},  {"unsigned char", 1},  {"byte", 1},
      {"bool", 1},  {"complexfloat", 8}, {"complexdouble", 16},
  };
  if (type.starts_with("c10::")) type.remove_prefix(5);
  std::string plain(type);
  for (char& c : plain) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (plain.starts_with("float8")) return 1;
  const auto row = std::ranges::find(kRows, plain, &Row::name);
  return row == std::end(kRows) ? 0 : row->bytes;
}

// Neither is negative; nothing if it is too large or 0.
Int product(Int elements, Int bytes) {
  constexpr Int kMost = Int{1} << 60;
  return elements <= 0 || bytes <= 0 || elements > kMost / bytes ? kNoInt : elements * bytes;
}

// "0" of "default_pg" is "default_pg 0": the number alone identifies it, but names nothing.
Id communicator_of(const JsonEvent& event, Assembly& assembly) {
  if (event.group_name.empty()) return kNoId;
  const bool described = !event.group_description.empty() && event.group_description != "undefined";
  return assembly.intern(described ? std::string(event.group_description) + " " +
                                         std::string(event.group_name)
                                   : std::string(event.group_name));
}

}  // namespace

std::optional<trace::CollectiveCall> collective_of_kernel(const JsonEvent& kernel,
                                                          Assembly& assembly) {
  if (kernel.collective.empty()) return std::nullopt;
  const bool sends = collective_kind(kernel.collective) == CollectiveKind::kSend;
  const Int sequence = kernel.sequence;
  return trace::CollectiveCall{
      .name_id = assembly.intern(std::string(kNccl) + std::string(kernel.collective)),
      .communicator_id = communicator_of(kernel, assembly),
      .rank_count = trace::small_or_none(kernel.group_size),
      .sequence =
          sequence < 0 || sequence > std::numeric_limits<uint32_t>::max() ? kNoInt : sequence,
      .bytes = product(kernel.in_elements, bytes_of(kernel.element_type)),
      .peer = trace::small_or_none(sends ? kernel.target_rank : kernel.source_rank)};
}

std::optional<trace::CollectiveCall> collective_of_annotation(const JsonEvent& annotation,
                                                              Assembly& assembly) {
  if (!describes_collective(annotation.name)) return std::nullopt;
  trace::CollectiveCall call{.name_id = assembly.intern(annotation.name)};
  // PyTorch runs collectives on the CPU in a group of its own.
  if (annotation.name.starts_with(kGloo)) call.communicator_id = assembly.intern("gloo");
  const size_t inputs = std::min(annotation.input_elements.size(), annotation.input_types.size());
  Int bytes = 0;
  for (size_t i = 0; i < inputs; ++i) {
    const Int each = product(annotation.input_elements[i], bytes_of(annotation.input_types[i]));
    if (each != kNoInt && bytes < (Int{1} << 60)) bytes += each;
  }
  if (bytes > 0) call.bytes = bytes;
  return call;
}

bool describes_collective(std::string_view annotation) {
  return annotation.starts_with(kNccl) || annotation.starts_with(kGloo);
}

}  // namespace streamscope::import
