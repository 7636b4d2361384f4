// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "python_stacks.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>

#include "python_lines.h"

namespace streamscope::record {
namespace {

constexpr uint32_t kMostFrames = 64;
constexpr size_t kMostLineTable = 1 << 16;
constexpr int kReadings = 4;

// The innermost frame of a running thread is at another instruction by the next reading.
bool is_same_place(const ring::PythonFrame& a, const ring::PythonFrame& b, bool innermost) {
  return a.code == b.code && (innermost || a.offset == b.offset);
}

}  // namespace

size_t frames_in_common(const std::vector<ring::PythonFrame>& a,
                        const std::vector<ring::PythonFrame>& b) {
  size_t count = 0;
  while (count < a.size() && count < b.size() &&
         is_same_place(a[a.size() - 1 - count], b[b.size() - 1 - count],
                       count + 1 == a.size() && count + 1 == b.size()))
    ++count;
  return count;
}

bool PythonStacks::Memory::read(uint64_t from, void* to, size_t bytes) const {
  iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(process, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::vector<ring::PythonFrame> PythonStacks::walk(const PythonThread& thread) {
  std::vector<ring::PythonFrame> frames;
  const ring::PythonLayout* layout = ring::python_layout(static_cast<int>(thread.minor));
  if (layout == nullptr) return frames;
  Memory memory{process_};
  Reader reader(memory, *layout, thread.code_type, thread.text_type);
  reader.each_frame(thread.state, kMostFrames, [&](const ring::PythonFrame& frame) {
    frames.push_back(frame);
    return true;
  });
  return frames;
}

void PythonStacks::read(const PythonThread& thread, std::vector<SampledFrame>& frames) {
  frames.clear();
  if (thread.state == 0) return;
  std::vector<ring::PythonFrame> last = walk(thread);
  size_t common = 0;
  for (int reading = 1; reading < kReadings; ++reading) {
    std::vector<ring::PythonFrame> next = walk(thread);
    common = frames_in_common(last, next);
    const bool agree = common == last.size() && common == next.size();
    last = std::move(next);
    if (agree) break;
  }
  for (size_t i = last.size() - common; i < last.size(); ++i) {
    const std::string& text = name(thread, last[i]);
    if (!text.empty()) frames.push_back({.text = text, .module = {}, .address = 0});
  }
}

const std::string& PythonStacks::name(const PythonThread& thread, const ring::PythonFrame& frame) {
  Named& named = names_[{frame.code, frame.offset}];
  // The memory of a code object may be another's by now.
  if (named.text.empty() || named.file != frame.file || named.name != frame.name ||
      named.first_line != frame.first_line)
    named = {frame.file, frame.name, frame.first_line, look_up(thread, frame)};
  return named.text;
}

std::string PythonStacks::look_up(const PythonThread& thread, const ring::PythonFrame& frame) {
  const int minor = static_cast<int>(thread.minor);
  Memory memory{process_};
  Reader reader(memory, *ring::python_layout(minor), thread.code_type, thread.text_type);
  std::array<char, Reader::kMostText> file, name;
  const size_t file_bytes = reader.text(frame.file, file.data(), file.size());
  const size_t name_bytes = reader.text(frame.name, name.data(), name.size());
  if (file_bytes == 0 || name_bytes == 0) return "";
  // A bytes object: its size is at 16, its content at 32.
  uint64_t bytes = 0;
  std::vector<uint8_t> table;
  if (memory.read(frame.lines + 16, &bytes, sizeof bytes)) {
    table.resize(std::min<uint64_t>(bytes, kMostLineTable));
    if (!memory.read(frame.lines + 32, table.data(), table.size())) table.clear();
  }
  const int line = python_line(minor, table, frame.first_line, frame.offset);
  return std::string(file.data(), file_bytes) + ':' +
         std::to_string(line > 0 ? line : frame.first_line) + ' ' +
         std::string(name.data(), name_bytes);
}

}  // namespace streamscope::record
