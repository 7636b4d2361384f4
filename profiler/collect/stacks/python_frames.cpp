// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/python_frames.h"

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collect/process/code_range.h"
#include "collect/process/memory.h"

namespace streamscope::collect {

// Frames already named, by address.
struct PythonNames {
  struct Slot {
    uint64_t code, file, name;
    int32_t offset;
    ring::TextHash hash;
  };
  static constexpr size_t kSlots = 64;
  Slot slots[kSlots];
};

namespace {

constexpr uint32_t kMaxNameBytes = 160, kMaxFileBytes = 240;
constexpr uint16_t kNowhere = 0xffff;

// Field offsets in one minor version, in bytes (offsetof, 64 bits, release builds).
struct Layout {
  int minor;              // of 3.x
  uint16_t thread_frame;  // PyThreadState: the innermost frame, or the _PyCFrame that has it
  uint16_t c_frame;  // _PyCFrame.current_frame; kNowhere: the thread state has the frame itself
  uint16_t previous, code;  // of the frame
  uint16_t instruction;     // of the frame: an address, or before 3.11 a number
  uint16_t owner;  // of the frame: 3 is an entry frame without code of its own (3.12); kNowhere
  uint16_t first_code;  // PyCodeObject.co_code_adaptive; kNowhere before 3.11
  uint16_t file, name;  // PyCodeObject.co_filename, co_qualname or co_name
  uint16_t text;        // offset of the bytes of an ASCII string; otherwise 16 (3.12: 8+8) later
};
constexpr Layout kLayouts[] = {
    {8, 24, kNowhere, 24, 32, 104, kNowhere, kNowhere, 104, 112, 48},
    {9, 24, kNowhere, 24, 32, 104, kNowhere, kNowhere, 104, 112, 48},
    {10, 24, kNowhere, 24, 32, 96, kNowhere, kNowhere, 104, 112, 48},
    {11, 56, 8, 48, 32, 56, 69, 184, 112, 128, 48},
    {12, 56, 0, 8, 0, 56, 70, 192, 112, 128, 40},
    {13, 72, kNowhere, 8, 0, 56, 70, 200, 112, 128, 40},
};
constexpr uint16_t kTypeOffset = 8;  // PyObject.ob_type
constexpr uint8_t kEntryFrame = 3;
constexpr size_t kFrameBytes = 72, kOldFrameBytes = 112, kCodeBytes = 136, kStringHeadBytes = 40;

struct Python {
  const Layout* layout = nullptr;
  void* (*this_thread_state)() = nullptr;
  int (*line_of)(void* code, int offset) = nullptr;
  int (*finalizing)() = nullptr;
  const void* code_type = nullptr;
  const void* text_type = nullptr;
  CodeRange code;  // the interpreter's
};
constinit Python python;
constinit std::atomic<bool> found{false};
constinit std::atomic<int> searching{0};

// Stacks still to be read through the kernel before a layout counts as verified.
constexpr int kTrials = 64;
constinit std::atomic<int> trials_left{kTrials};

// State of the walk of one stack.
struct Walk {
  bool by_kernel;  // then an invalid pointer is an error
  bool wrong = false;
};

bool read(Walk& walk, uint64_t from, void* to, size_t bytes) {
  if (!walk.by_kernel) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return true;
  }
  iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
  if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes))
    return true;
  walk.wrong = true;
  return false;
}

bool is_a(Walk& walk, uint64_t object, const void* type) {
  const void* found;
  if (!read(walk, object + kTypeOffset, &found, sizeof found)) return false;
  if (found != type) walk.wrong = true;
  return found == type;
}

template <class T>
T at(const unsigned char* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

// Copies a Python string; non-ASCII characters become '?'. Returns its length, 0 if it is not a
// string.
size_t read_text(Walk& walk, uint64_t object, char* to, size_t limit) {
  unsigned char head[kStringHeadBytes];
  if (!is_a(walk, object, python.text_type) || !read(walk, object, head, sizeof head)) return 0;
  const auto length = std::min<uint64_t>(at<uint64_t>(head, 16), limit);
  const auto state = at<uint32_t>(head, 32);
  const uint32_t unit = state >> 2 & 7;
  const bool compact = (state >> 5 & 1) != 0, ascii = (state >> 6 & 1) != 0;
  if (!compact || length == 0) return 0;
  if (ascii) return read(walk, object + python.layout->text, to, length) ? length : 0;
  // A wider string has two or three more words before its characters.
  const uint64_t text = object + python.layout->text + (python.layout->minor < 12 ? 24 : 16);
  unsigned char units[4 * kMaxFileBytes];
  if ((unit != 1 && unit != 2 && unit != 4) || !read(walk, text, units, length * unit)) return 0;
  for (size_t i = 0; i < length; ++i) {
    uint32_t point = 0;
    std::memcpy(&point, units + i * unit, unit);
    to[i] = point < 0x80 ? static_cast<char>(point) : '?';
  }
  return length;
}

// The name of a frame whose code object is at `code` and has been read into `bytes`.
ring::TextHash name_of(Walk& walk, ThreadState& thread, uint64_t code, const unsigned char* bytes,
                       int offset) {
  const auto file = at<uint64_t>(bytes, python.layout->file);
  const auto name = at<uint64_t>(bytes, python.layout->name);
  if (thread.python_names == nullptr) {
    thread.python_names = static_cast<PythonNames*>(permanent_memory(sizeof(PythonNames)));
    if (thread.python_names == nullptr) return 0;
  }
  PythonNames::Slot& slot =
      thread.python_names
          ->slots[(code >> 4 ^ static_cast<uint64_t>(offset) * 31) % PythonNames::kSlots];
  if (slot.hash != 0 && slot.code == code && slot.file == file && slot.name == name &&
      slot.offset == offset)
    return slot.hash;
  char text[kMaxFileBytes + kMaxNameBytes + 16];
  size_t used = read_text(walk, file, text, kMaxFileBytes);
  if (used == 0) return 0;
  // Reads only the code object's line table.
  const int line = python.line_of(reinterpret_cast<void*>(code), offset);
  used += static_cast<size_t>(std::snprintf(text + used, 16, ":%d ", line));
  const size_t name_bytes = read_text(walk, name, text + used, kMaxNameBytes);
  if (name_bytes == 0) return 0;
  slot = {code, file, name, offset, send_text(thread, {text, used + name_bytes})};
  return slot.hash;
}

uint32_t walk_frames(Walk& walk, ThreadState& thread, uint64_t state, uint64_t* hashes,
                     uint32_t limit) {
  const Layout& layout = *python.layout;
  uint64_t frame = 0;
  if (!read(walk, state + layout.thread_frame, &frame, sizeof frame) || frame == 0) return 0;
  if (layout.c_frame != kNowhere && !read(walk, frame + layout.c_frame, &frame, sizeof frame))
    return 0;
  uint32_t count = 0;
  for (uint32_t steps = 0; frame != 0 && count < limit && steps < 4 * limit; ++steps) {
    unsigned char bytes[kOldFrameBytes], code_bytes[kCodeBytes];
    if (!read(walk, frame, bytes, layout.minor < 11 ? kOldFrameBytes : kFrameBytes)) break;
    frame = at<uint64_t>(bytes, layout.previous);
    if (layout.owner != kNowhere && bytes[layout.owner] == kEntryFrame) continue;
    const auto code = at<uint64_t>(bytes, layout.code);
    if (!is_a(walk, code, python.code_type) || !read(walk, code, code_bytes, sizeof code_bytes))
      break;
    int offset;
    if (layout.first_code != kNowhere) {
      offset =
          static_cast<int>(at<uint64_t>(bytes, layout.instruction) - (code + layout.first_code));
    } else {
      offset = at<int32_t>(bytes, layout.instruction) * (layout.minor == 10 ? 2 : 1);
    }
    const ring::TextHash hash = name_of(walk, thread, code, code_bytes, offset);
    if (hash == 0) break;
    hashes[count++] = hash;
  }
  return count;
}

}  // namespace

void find_python() {
  if (found.load(std::memory_order_acquire) || searching.exchange(1) != 0) return;
  auto symbol = [](const char* name) { return ::dlsym(RTLD_DEFAULT, name); };
  auto version = reinterpret_cast<const char* (*)()>(symbol("Py_GetVersion"));
  Python candidate;
  candidate.this_thread_state = reinterpret_cast<decltype(candidate.this_thread_state)>(
      symbol("PyGILState_GetThisThreadState"));
  candidate.line_of = reinterpret_cast<decltype(candidate.line_of)>(symbol("PyCode_Addr2Line"));
  candidate.finalizing =
      reinterpret_cast<decltype(candidate.finalizing)>(symbol("Py_IsFinalizing"));
  if (candidate.finalizing == nullptr)
    candidate.finalizing =
        reinterpret_cast<decltype(candidate.finalizing)>(symbol("_Py_IsFinalizing"));
  candidate.code_type = symbol("PyCode_Type");
  candidate.text_type = symbol("PyUnicode_Type");
  if (version != nullptr && candidate.this_thread_state != nullptr &&
      candidate.line_of != nullptr && candidate.finalizing != nullptr &&
      candidate.code_type != nullptr && candidate.text_type != nullptr) {
    const char* text = version();
    // Objects have another layout without the lock.
    if (std::strncmp(text, "3.", 2) == 0 && std::strstr(text, "free-threading") == nullptr) {
      const int minor = std::atoi(text + 2);
      for (const Layout& layout : kLayouts) {
        if (layout.minor == minor) candidate.layout = &layout;
      }
    }
  }
  if (candidate.layout != nullptr) {
    candidate.code = code_around(reinterpret_cast<uintptr_t>(candidate.line_of));
    python = candidate;
    found.store(true, std::memory_order_release);
  }
  searching.store(0);
}

bool in_python(uint64_t address) {
  return found.load(std::memory_order_acquire) && python.code.contains(address);
}

uint32_t python_frames(ThreadState& thread, uint64_t* hashes, uint32_t limit) {
  if (!found.load(std::memory_order_acquire) || python.finalizing() != 0) return 0;
  const auto state = reinterpret_cast<uintptr_t>(python.this_thread_state());
  if (state == 0) return 0;
  Walk walk{trials_left.load(std::memory_order_relaxed) > 0};
  const uint32_t count = walk_frames(walk, thread, state, hashes, limit);
  if (walk.wrong) {  // an interpreter of another build: never read it again
    found.store(false, std::memory_order_relaxed);
    searching.store(1, std::memory_order_relaxed);
    return 0;
  }
  if (walk.by_kernel && count > 0) trials_left.fetch_sub(1, std::memory_order_relaxed);
  return count;
}

void forget_python_after_fork() { searching.store(0); }

}  // namespace streamscope::collect
