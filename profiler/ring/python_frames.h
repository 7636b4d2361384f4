// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The frames of a Python thread, read as memory: from inside the process (collect) or from outside
// (record). Layouts are those of CPython 3.8 to 3.13 with the lock, 64 bits, release builds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace streamscope::ring {

inline constexpr uint16_t kNoField = 0xffff;

/// Field offsets in one minor version, in bytes.
struct PythonLayout {
  int minor;              // of 3.x
  uint16_t thread_frame;  // PyThreadState: the innermost frame, or the _PyCFrame that has it
  uint16_t c_frame;  // _PyCFrame.current_frame; kNoField: the thread state has the frame itself
  uint16_t previous, code;  // of the frame
  uint16_t instruction;     // of the frame: an address, or before 3.11 a number
  uint16_t owner;       // of the frame: 3 is an entry frame without code of its own; or kNoField
  uint16_t first_code;  // PyCodeObject.co_code_adaptive; kNoField before 3.11
  uint16_t first_line;  // PyCodeObject.co_firstlineno
  uint16_t file, name;  // PyCodeObject.co_filename, co_qualname or co_name
  uint16_t lines;       // PyCodeObject.co_lnotab or co_linetable
  uint16_t text;        // offset of the bytes of an ASCII string; otherwise 16 (3.12: 8+8) later
};

inline constexpr PythonLayout kPythonLayouts[] = {
    {8, 24, kNoField, 24, 32, 104, kNoField, kNoField, 40, 104, 112, 120, 48},
    {9, 24, kNoField, 24, 32, 104, kNoField, kNoField, 40, 104, 112, 120, 48},
    {10, 24, kNoField, 24, 32, 96, kNoField, kNoField, 40, 104, 112, 120, 48},
    {11, 56, 8, 48, 32, 56, 69, 184, 72, 112, 128, 136, 48},
    {12, 56, 0, 8, 0, 56, 70, 192, 68, 112, 128, 136, 40},
    {13, 72, kNoField, 8, 0, 56, 70, 200, 68, 112, 128, 136, 40},
};
inline constexpr size_t kPythonCodeBytes = 144;  // up to the last field above

/// nullptr for a version without a layout.
constexpr const PythonLayout* python_layout(int minor) {
  for (const PythonLayout& layout : kPythonLayouts) {
    if (layout.minor == minor) return &layout;
  }
  return nullptr;
}

/// A value of `bytes` at an offset.
template <class T>
T field(const unsigned char* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

struct PythonFrame {
  uint64_t code = 0;   ///< address of the code object
  int32_t offset = 0;  ///< of the instruction, in bytes
  uint64_t file = 0;   ///< address of the string
  uint64_t name = 0;   ///< the same
  uint64_t lines = 0;  ///< address of the bytes object with the line table
  int32_t first_line = 0;
};

/// `Memory` has `bool read(uint64_t from, void* to, size_t bytes)`: false ends what is being read.
/// Objects are checked by their types. Not thread-safe.
template <class Memory>
class PythonReader {
 public:
  /// `code_type`, `text_type`: addresses of PyCode_Type and PyUnicode_Type.
  PythonReader(Memory& memory, const PythonLayout& layout, uint64_t code_type, uint64_t text_type)
      : memory_(memory), layout_(layout), code_type_(code_type), text_type_(text_type) {}

  /// True once memory could not be read or an object had another type: then the layout is another.
  bool wrong() const { return wrong_; }

  /// Calls `visit(frame)` for each frame of a thread, innermost first, until it returns false.
  /// `state`: the PyThreadState. At most `limit` frames.
  template <class Visit>
  void each_frame(uint64_t state, uint32_t limit, Visit visit) {
    uint64_t frame = 0;
    if (!read(state + layout_.thread_frame, &frame, sizeof frame) || frame == 0) return;
    if (layout_.c_frame != kNoField && !read(frame + layout_.c_frame, &frame, sizeof frame)) return;
    uint32_t count = 0;
    for (uint32_t steps = 0; frame != 0 && count < limit && steps < 4 * limit; ++steps) {
      unsigned char bytes[kOldFrameBytes];
      if (!read(frame, bytes, layout_.minor < 11 ? kOldFrameBytes : kFrameBytes)) return;
      frame = field<uint64_t>(bytes, layout_.previous);
      if (layout_.owner != kNoField && bytes[layout_.owner] == kEntryFrame) continue;
      PythonFrame found;
      if (!describe(field<uint64_t>(bytes, layout_.code), found)) return;
      if (layout_.first_code != kNoField) {
        found.offset = static_cast<int32_t>(field<uint64_t>(bytes, layout_.instruction) -
                                            (found.code + layout_.first_code));
      } else {
        const auto instruction = field<uint32_t>(bytes, layout_.instruction);
        found.offset = static_cast<int32_t>(layout_.minor == 10 ? instruction * 2 : instruction);
      }
      if (!visit(found)) return;
      ++count;
    }
  }

  /// Copies a Python string; non-ASCII characters become '?'. Returns its length, 0 if it is not a
  /// string. `limit` is at most kMostText.
  static constexpr size_t kMostText = 240;
  size_t text(uint64_t object, char* to, size_t limit) {
    unsigned char head[kStringHeadBytes];
    if (!is_a(object, text_type_) || !read(object, head, sizeof head)) return 0;
    const auto length = std::min<uint64_t>(field<uint64_t>(head, 16), limit);
    const auto state = field<uint32_t>(head, 32);
    const uint32_t unit = state >> 2 & 7;
    const bool compact = (state >> 5 & 1) != 0, ascii = (state >> 6 & 1) != 0;
    if (!compact || length == 0) return 0;
    if (ascii) return read(object + layout_.text, to, length) ? length : 0;
    // A wider string has two or three more words before its characters.
    const uint64_t characters = object + layout_.text + (layout_.minor < 12 ? 24 : 16);
    unsigned char units[4 * kMostText];
    if ((unit != 1 && unit != 2 && unit != 4) || !read(characters, units, length * unit)) return 0;
    for (size_t i = 0; i < length; ++i) {
      uint32_t point = 0;
      std::memcpy(&point, units + i * unit, unit);
      to[i] = point < 0x80 ? static_cast<char>(point) : '?';
    }
    return length;
  }

 private:
  static constexpr uint16_t kTypeOffset = 8;  // PyObject.ob_type
  static constexpr uint8_t kEntryFrame = 3;
  static constexpr size_t kFrameBytes = 72, kOldFrameBytes = 112, kStringHeadBytes = 40;

  bool read(uint64_t from, void* to, size_t bytes) {
    if (memory_.read(from, to, bytes)) return true;
    wrong_ = true;
    return false;
  }

  bool is_a(uint64_t object, uint64_t type) {
    uint64_t found;
    if (!read(object + kTypeOffset, &found, sizeof found)) return false;
    if (found != type) wrong_ = true;
    return found == type;
  }

  bool describe(uint64_t code, PythonFrame& frame) {
    unsigned char bytes[kPythonCodeBytes];
    if (!is_a(code, code_type_) || !read(code, bytes, sizeof bytes)) return false;
    frame.code = code;
    frame.file = field<uint64_t>(bytes, layout_.file);
    frame.name = field<uint64_t>(bytes, layout_.name);
    frame.lines = field<uint64_t>(bytes, layout_.lines);
    frame.first_line = field<int32_t>(bytes, layout_.first_line);
    return true;
  }

  Memory& memory_;
  const PythonLayout& layout_;
  uint64_t code_type_, text_type_;
  bool wrong_ = false;
};

}  // namespace streamscope::ring
