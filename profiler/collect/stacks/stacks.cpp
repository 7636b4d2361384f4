// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/stacks.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

#include "collect/process/session.h"
#include "collect/stacks/native_frames.h"
#include "collect/stacks/python_frames.h"
#include "vocabulary/fnv1a.h"

namespace streamscope::collect {
namespace {

constexpr uint32_t kMaxPythonFrames = 32;

struct Frames {
  uint32_t count = 0;
  uint32_t first_text = 0;  // from here on, frames are Python's
  uint64_t values[kMaxNativeFrames + kMaxPythonFrames];
};

// Hashes of the stacks already sent; insert only, 0 is empty.
constexpr size_t kStackSlots = 1 << 12;
constinit std::atomic<uint64_t> sent_stacks[kStackSlots] = {};

constinit std::mutex modules_mutex;
constinit unsigned long long modules_seen = 0;  // dlpi_adds when the modules were last reported

bool claim_stack(uint64_t hash) {
  for (size_t i = 0; i < 32; ++i) {
    std::atomic<uint64_t>& slot = sent_stacks[(hash + i) % kStackSlots];
    uint64_t seen = slot.load(std::memory_order_relaxed);
    if (seen == hash) return false;
    if (seen == 0) {
      if (slot.compare_exchange_strong(seen, hash, std::memory_order_relaxed)) return true;
      if (seen == hash) return false;
    }
  }
  return true;
}

int count_modules(dl_phdr_info* object, size_t size, void* pointer) {
  if (size >= offsetof(dl_phdr_info, dlpi_subs))
    *static_cast<unsigned long long*>(pointer) = object->dlpi_adds;
  return 1;
}

struct Telling {
  ThreadState& thread;
  bool has_python = false;
};

int report_module(dl_phdr_info* object, size_t, void* pointer) {
  auto& [thread, has_python] = *static_cast<Telling*>(pointer);
  ring::ModuleRecord record{};
  record.kind = ring::RecordKind::kModule;
  record.base = object->dlpi_addr;
  record.begin_address = ~uint64_t{0};
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    record.begin_address =
        std::min<uint64_t>(record.begin_address, object->dlpi_addr + segment.p_vaddr);
    record.end_address = std::max<uint64_t>(record.end_address,
                                            object->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (record.end_address == 0) return 0;
  if (object->dlpi_name != nullptr && object->dlpi_name[0] != '\0') {
    record.path = send_text(thread, object->dlpi_name);
    has_python |= std::strstr(object->dlpi_name, "libpython") != nullptr;
  } else {  // the program itself
    char path[1024];
    const ssize_t bytes = ::readlink("/proc/self/exe", path, sizeof path);
    if (bytes > 0) record.path = send_text(thread, {path, static_cast<size_t>(bytes)});
  }
  thread.push(record);
  return 0;
}

// Reports all modules again if one was loaded since. Symbols are looked up only if an interpreter
// is among them, and with no lock held: that waits for any thread that loads a library, which may
// wait for the call in which we are.
void report_modules(ThreadState& thread) {
  Telling telling{thread};
  {
    std::lock_guard lock(modules_mutex);
    unsigned long long adds = 0;
    ::dl_iterate_phdr(count_modules, &adds);
    if (adds == modules_seen) return;
    modules_seen = adds;
    ::dl_iterate_phdr(report_module, &telling);
  }
  if (telling.has_python) find_python();
}

void send_stack(ThreadState& thread, const Frames& frames, uint64_t hash) {
  ring::StackRecord record{};
  record.kind = ring::RecordKind::kStack;
  record.total_frames = frames.count;
  record.hash = hash;
  constexpr uint32_t kChunk = std::size(decltype(record.frames){});
  for (uint32_t first = 0; first < frames.count; first += kChunk) {
    record.first_frame = first;
    record.frame_count = static_cast<uint8_t>(std::min(kChunk, frames.count - first));
    record.texts = 0;
    for (uint32_t i = 0; i < record.frame_count; ++i) {
      record.frames[i] = frames.values[first + i];
      if (first + i >= frames.first_text) record.texts |= static_cast<uint8_t>(1 << i);
    }
    thread.push(record);
  }
}

// The native frames from here out to the interpreter, then Python's in place of the interpreter's
// own; all native ones if there is no Python.
void walk(ThreadState& thread, Frames& frames) {
  uint64_t python[kMaxPythonFrames];
  const uint32_t python_count = python_frames(thread, python, kMaxPythonFrames);
  frames.first_text = native_frames(thread, python_count > 0, frames.values);
  std::copy_n(python, python_count, frames.values + frames.first_text);
  frames.count = frames.first_text + python_count;
}

uint32_t take(ThreadState& thread) {
  Frames frames;
  walk(thread, frames);
  if (frames.count == 0) return 0;
  uint64_t hash = kFnv1aStart;
  for (uint32_t i = 0; i < frames.count; ++i) hash = fnv1a_step(frames.values[i], hash);
  if (static_cast<uint32_t>(hash) == 0) ++hash;  // 0 stands for none
  if (claim_stack(hash)) {
    report_modules(thread);
    send_stack(thread, frames, hash);
  }
  return static_cast<uint32_t>(hash);
}

// Only the ring's own thread writes these.
void add(std::atomic<uint64_t>& sum, uint64_t more) {
  sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

void prepare_stacks() {
  prepare_native_frames();
  find_python();
}

uint32_t take_stack(ThreadState& thread) {
  if (!collecting()) return 0;
  const uint64_t begin = ticks();
  const uint32_t stack = take(thread);
  ring::RingHeader& header = thread.ring.header();
  add(header.stacks, 1);
  add(header.stack_ticks, ticks() - begin);
  return stack;
}

void forget_stacks_after_fork() {
  for (std::atomic<uint64_t>& slot : sent_stacks) {
    if (slot.load(std::memory_order_relaxed) != 0) slot.store(0, std::memory_order_relaxed);
  }
  new (&modules_mutex) std::mutex;
  modules_seen = 0;
  forget_python_after_fork();
}

}  // namespace streamscope::collect
