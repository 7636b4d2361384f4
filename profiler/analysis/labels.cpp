// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/function_name.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::analysis {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

unsigned code_point(std::string_view character) {
  unsigned value = static_cast<unsigned char>(character[0]);
  if (character.size() > 1) value &= 0x3fu >> (character.size() - 1);
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<unsigned>(c) & 0x3f);
  return value;
}

// Unicode controls of direction, which can disguise a text, and of lines.
bool turns_text(std::string_view character) {
  if (character.size() < 2 || character.size() > 3) return false;
  const unsigned point = code_point(character);
  return point == 0x061c || point == 0x200e || point == 0x200f ||
         (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    if (length == 0) {
      result += "\uFFFD";
    } else if (is_control(character)) {
      result += keep_lines && character == "\n" ? '\n' : ' ';
    } else if (turns_text(character)) {
      result += fmt::format("[U+{:04X}]", code_point(character));
    } else {
      result += character;
    }
  }
  return result;
}

std::string function_name(std::string_view raw) {
  const std::string name = trace::demangled(raw);
  int angle = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++angle;
    if (name[i] == '>') --angle;
    const bool parameters = name[i] == '(' && angle == 0 && i > 0 &&
                            name.compare(i, 11, "(anonymous ") != 0 &&
                            !std::string_view(name).substr(0, i).ends_with("operator");
    if (parameters) return printable(name.substr(0, i));
  }
  return printable(name);
}

std::string scoped_name(std::string_view raw) {
  const std::string name = function_name(raw);
  if (name.find("operator") != name.npos) return name;  // whose name may consist of brackets
  std::string result;
  int angle = 0, other = 0;
  for (const char c : name) {
    if (c == '<' && angle++ == 0) result += "<…>";
    if (angle == 0) {
      other += (c == '(' || c == '{') - (c == ')' || c == '}');
      if (c == ' ' && other == 0) {
        result.clear();  // that was the return type
      } else {
        result += c;
      }
    }
    if (c == '>' && angle > 0) --angle;
  }
  return result.empty() ? name : result;
}

std::string short_kernel_name(std::string_view raw) {
  const trace::ShortName name = trace::short_name(raw);
  const bool is_vague = name.has_template_arguments && name.functor.empty();
  return printable(is_vague ? name.text + "<…>" : name.with_functor());
}

std::string op_label(const Trace& trace, Id op) {
  if (op >= trace.op.size()) return "unknown work";
  return op_label(trace, trace.op.kind[op], trace.op.name_id[op], trace.op.detail[op]);
}

std::string op_label(const Trace& names, trace::Small kind, Id name_id, trace::Small detail) {
  const std::string_view name = names.text(name_id);
  switch (kind) {
    case trace::kKernel:
      return name.empty() ? "kernel" : short_kernel_name(name);
    case trace::kMemcpy:
      if (detail == trace::kNoSmall || detail == 0) return "memcpy";
      return fmt::format("memcpy {}", copy_kind_name(detail));
    default: {
      std::string text(trace::to_string(static_cast<trace::OpKind>(kind)));
      std::replace(text.begin(), text.end(), '_', ' ');
      return name.empty() ? text : fmt::format("{} \"{}\"", text, short_kernel_name(name));
    }
  }
}

std::string stream_label(const Trace& trace, Id stream) {
  if (stream >= trace.stream.size()) return "unknown";
  std::string label;
  if (trace.process.size() > 1) {
    const Id process = trace.process_of_stream(stream);
    std::string which = "?";
    if (process < trace.process.size()) {
      const trace::Small rank = trace.process.rank[process], pid = trace.process.os_pid[process];
      if (rank != trace::kNoSmall)
        which = fmt::format("rank {}", rank);
      else if (pid != trace::kNoSmall)
        which = std::to_string(pid);
    }
    label = process_label(trace, process);
    label += label.ends_with(fmt::format("({})", which)) ? " " : fmt::format("[{}] ", which);
  }
  const trace::Small native = trace.stream.native_id[stream];
  label += native != trace::kNoSmall ? std::to_string(native) : fmt::format("#{}", stream);
  const std::string name = printable(trace.text(trace.stream.name_id[stream]));
  if (!name.empty()) return label + ' ' + name;
  if (trace.stream.kind[stream] == trace::kLegacyStream) return label + " (default)";
  if (trace.stream.kind[stream] == trace::kPerThreadStream) return label + " (per-thread default)";
  return label;
}

std::string lasting_stream_name(const Trace& trace, Id stream) {
  if (stream >= trace.stream.size()) return {};
  const std::string_view name = trace.text(trace.stream.name_id[stream]);
  return name.empty() ? std::string(trace::to_string(
                            static_cast<trace::StreamKind>(trace.stream.kind[stream])))
                      : printable(name);
}

std::string event_label(const Trace& trace, Id event) {
  if (event >= trace.event.size()) return "an event";
  const std::string name = printable(trace.text(trace.event.name_id[event]));
  return name.empty() ? fmt::format("event {}", event) : fmt::format("event \"{}\"", name);
}

std::string process_label(const Trace& trace, Id process) {
  if (process >= trace.process.size()) return "unknown process";
  std::string name = printable(trace.text(trace.process.name_id[process]));
  if (name.empty()) {
    name = printable(trace.text(trace.process.executable_id[process]));
    if (const size_t slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
  }
  if (!name.empty()) return name;
  const trace::Small pid = trace.process.os_pid[process];
  return pid == trace::kNoSmall ? "unnamed process" : fmt::format("process {}", pid);
}

std::string device_label(const Trace& trace, Id device) {
  if (device >= trace.device.size()) return "unknown device";
  std::string name = printable(trace.text(trace.device.name_id[device]));
  if (!name.empty()) return name;
  const trace::Small ordinal = trace.device.ordinal[device];
  return fmt::format("device {}",
                     ordinal == trace::kNoSmall ? static_cast<trace::Small>(device) : ordinal);
}

std::string op_on_stream(const trace::Trace& trace, trace::Id op) {
  if (op >= trace.op.size()) return "other work";
  return fmt::format("{} on stream {}", op_label(trace, op),
                     stream_label(trace, trace.op.stream_id[op]));
}

std::string sync_name(const trace::Trace& trace, trace::Id sync) {
  if (sync >= trace.host_sync.size()) return "a synchronization";
  const std::string name = printable(trace.text(trace.host_sync.name_id[sync]));
  return name.empty() ? "a synchronization" : name;
}

std::string with_word_thread(const std::string& name) {
  return name.starts_with("thread ") ? name : "thread " + name;
}

std::string thread_label(const trace::Trace& trace, trace::Id thread) {
  if (thread >= trace.thread.size()) return "a thread";
  const std::string name = printable(trace.text(trace.thread.name_id[thread]));
  return with_word_thread(name.empty() ? std::to_string(trace.thread.os_tid[thread]) : name);
}

}  // namespace streamscope::analysis
