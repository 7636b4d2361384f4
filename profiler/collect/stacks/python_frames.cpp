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
#include "ring/python_frames.h"

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

struct Python {
  const ring::PythonLayout* layout = nullptr;
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

// This process's memory.
struct OwnMemory {
  bool by_kernel;  // then an invalid pointer is an error

  bool read(uint64_t from, void* to, size_t bytes) const {
    if (!by_kernel) {
      std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
      return true;
    }
    iovec local{to, bytes}, remote{reinterpret_cast<void*>(from), bytes};
    return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  }
};
using Reader = ring::PythonReader<OwnMemory>;

ring::TextHash name_of(Reader& reader, ThreadState& thread, const ring::PythonFrame& frame) {
  if (thread.python_names == nullptr) {
    thread.python_names = static_cast<PythonNames*>(permanent_memory(sizeof(PythonNames)));
    if (thread.python_names == nullptr) return 0;
  }
  PythonNames::Slot& slot =
      thread.python_names->slots[(frame.code >> 4 ^ static_cast<uint64_t>(frame.offset) * 31) %
                                 PythonNames::kSlots];
  if (slot.hash != 0 && slot.code == frame.code && slot.file == frame.file &&
      slot.name == frame.name && slot.offset == frame.offset)
    return slot.hash;
  char text[kMaxFileBytes + kMaxNameBytes + 16];
  size_t used = reader.text(frame.file, text, kMaxFileBytes);
  if (used == 0) return 0;
  // Reads only the code object's line table.
  const int line = python.line_of(reinterpret_cast<void*>(frame.code), frame.offset);
  used += static_cast<size_t>(std::snprintf(text + used, 16, ":%d ", line));
  const size_t name_bytes = reader.text(frame.name, text + used, kMaxNameBytes);
  if (name_bytes == 0) return 0;
  slot = {frame.code, frame.file, frame.name, frame.offset,
          send_text(thread, {text, used + name_bytes})};
  return slot.hash;
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
      candidate.layout = ring::python_layout(std::atoi(text + 2));
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
  OwnMemory memory{trials_left.load(std::memory_order_relaxed) > 0};
  Reader reader(memory, *python.layout, reinterpret_cast<uintptr_t>(python.code_type),
                reinterpret_cast<uintptr_t>(python.text_type));
  uint32_t count = 0;
  reader.each_frame(state, limit, [&](const ring::PythonFrame& frame) {
    hashes[count] = name_of(reader, thread, frame);
    if (hashes[count] == 0) return false;
    ++count;
    return true;
  });
  if (reader.wrong()) {  // an interpreter of another build: never read it again
    found.store(false, std::memory_order_relaxed);
    searching.store(1, std::memory_order_relaxed);
    return 0;
  }
  if (memory.by_kernel && count > 0) trials_left.fetch_sub(1, std::memory_order_relaxed);
  return count;
}

void describe_python(ring::ThreadRecord& record) {
  if (!found.load(std::memory_order_acquire) || python.finalizing() != 0) return;
  record.python_state = reinterpret_cast<uintptr_t>(python.this_thread_state());
  record.python_code_type = reinterpret_cast<uintptr_t>(python.code_type);
  record.python_text_type = reinterpret_cast<uintptr_t>(python.text_type);
  record.python_minor = static_cast<uint32_t>(python.layout->minor);
}

void forget_python_after_fork() { searching.store(0); }

}  // namespace streamscope::collect
