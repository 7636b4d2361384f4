// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/observer.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "collect/calls/call_table.h"
#include "collect/observed/gpu_code.h"
#include "collect/observed/kernel_code.h"
#include "collect/observed/sanitizer_library.h"
#include "collect/observed/table.h"
#include "collect/observed/table_reader.h"
#include "collect/observed/touched_ranges.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

namespace {

constexpr uint64_t kSlotsOfThread = 2;   // a guess, for a kernel that was not seen before
constexpr size_t kMostRanges = 32768;    // of a launch
constexpr int64_t kOldNs = 100'000'000;  // a table is read when its first launch is this old
#ifdef __SANITIZE_THREAD__
constexpr int kMostWaitMs = 20'000;  // reading takes that much longer
#else
constexpr int kMostWaitMs = 2000;  // of a launch for a table
#endif
constexpr int kMostEndMs = 10'000;   // of the end for launches
constexpr uint64_t kRingFactor = 4;  // the ring of the reading thread has the ranges of all

struct Context {
  CUcontext handle = nullptr;
  Table tables[4];  // two small ones, then two large ones
  Table* filling = nullptr;
  TableReader reader;
  std::vector<CUevent> free_marks;
  std::unordered_map<CUfunction, double> slots_of_thread;  // most of one launch, as far as seen
  std::unordered_map<CUfunction, uint64_t> guessed;        // launches of kernels not seen so far
  bool impatient = false;  // a launch waited without one: none waits until a table is free again
  bool abandoned = false;  // nothing more is observed
  bool ended = false;      // another one may have its handle
};

struct Code {
  CodeOfKernels kernels;
  bool is_known = false;
};

struct Observer {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Context*> contexts;  // never freed
  SanitizerSubscriber subscriber = nullptr;
  bool finishing = false;
  bool over = false;  // modules are no longer patched
  int waiting = 0;    // threads, for tables
  int reporting = 0;  // tables that are free again, but what they contained is not reported
  std::unordered_map<CUmodule, Code> modules;
};
// Never destroyed: the driver may call while the process exits.
alignas(Observer) constinit unsigned char observer_memory[sizeof(Observer)] = {};
constinit Observer* observer = nullptr;
constinit std::atomic<bool> wants_marks{false};  // a table is closed

// The tables in which the thread's open call has launches.
struct OpenTables {
  static constexpr int kMost = 4;
  int count;
  Table* tables[kMost];
};
constinit thread_local OpenTables open_tables = {};

// Patching is serialized by the interface's rules.
constinit std::mutex patching;

Context* context_of(CUcontext handle) {
  for (Context* context : observer->contexts) {
    if (context->handle == handle && !context->ended) return context;
  }
  return nullptr;
}

// Without bytes a range says what is known of all that the launch touched.
constexpr TouchedRange kNothing = {.rows = 0};
constexpr TouchedRange kNotKnown = {.rows = 1};

void push_range(ThreadState& thread, const Launch& launch, const TouchedRange& range) {
  ring::AccessRecord record{};
  record.kind = ring::RecordKind::kAccess;
  record.source = static_cast<uint8_t>(AccessSource::kObserved);
  if (range.how != Touch::kRead) record.writes |= ring::kWritten;
  if (range.how == Touch::kAtomic) record.writes |= ring::kWrittenAtomically;
  record.writes |= static_cast<uint8_t>((launch.code & kAllSignals) << ring::kSignalsShift);
  record.call_number = launch.call_number;
  record.begin = launch.begin;
  record.ranges[0] = {range.address, range.bytes};
  record.pitch[0] = range.pitch;
  record.rows = range.rows;
  record.operation = ring::kNone32;
  thread.push(record);
}

// Nothing more is observed in the context, and what its tables contain is not known. The mutex is
// held.
void abandon(Context& context, ThreadState* thread) {
  if (std::exchange(context.abandoned, true) || thread == nullptr) return;
  for (const Table& table : context.tables) {
    for (const Launch& launch : table.launches) push_range(*thread, launch, kNotKnown);
  }
}

void give_up(Context& context, ThreadState* thread, const char* why) {
  abandon(context, thread);
  report_loss(ring::Loss::kNotObserved, 1, why);
}

void context_created(CUcontext handle) {
  auto* const context = new (std::nothrow) Context;
  if (context == nullptr) return;
  context->handle = handle;
  std::lock_guard lock(observer->mutex);
  observer->contexts.push_back(context);
  std::lock_guard patching_lock(patching);
  if (sanitizer.sanitizerAddPatches(streamscope_patches, handle) != 0)
    give_up(*context, existing_thread(), "this GPU needs patches that this build lacks");
}

void module_loaded(const SanitizerModuleData& data) {
  Code code;
  code.is_known = read_code(data.code, data.code_bytes, code.kernels);
  std::unique_lock code_lock(observer->mutex);
  if (observer->over) return;
  observer->modules.insert_or_assign(data.module, std::move(code));
  code_lock.unlock();
  struct Patch {
    SanitizerInstruction instruction;
    const char* function;
  };
  constexpr Patch kPatches[] = {{kGlobalAccess, "streamscope_access"},
                                {kCopyToShared, "streamscope_copy"},
                                {kBulkRead, "streamscope_bulk_read"},
                                {kBulkWrite, "streamscope_bulk_write"},
                                {kBulkReduction, "streamscope_bulk_reduction"}};
  std::lock_guard lock(patching);
  for (const Patch& patch : kPatches)
    sanitizer.sanitizerPatchInstructions(patch.instruction, data.module, patch.function);
  sanitizer.sanitizerPatchModule(data.module);
}

void module_ends(const SanitizerModuleData& data) {
  std::lock_guard lock(observer->mutex);
  observer->modules.erase(data.module);
}

// KernelSignals and CodeTraits.
uint8_t code_of(const SanitizerLaunchData& data) {
  std::lock_guard lock(observer->mutex);
  const auto module = observer->modules.find(data.module);
  if (module == observer->modules.end() || !module->second.is_known || data.name == nullptr)
    return kUnknownCode;
  const auto kernel = module->second.kernels.find(data.name);
  return kernel == module->second.kernels.end() ? 0 : kernel->second;
}

// Launches.

// The smallest free table that has room for so many slots takes over. The mutex is held.
bool take_turns(Context& context, uint64_t slots) {
  for (Table& table : context.tables) {
    if (table.state != Table::kFree || slots > table.full_slots()) continue;
    if (Table* const before = context.filling)
      before->state = before->launches.empty() ? Table::kFree : Table::kClosed;
    table.state = Table::kFilling;
    context.filling = &table;
    wants_marks.store(true, std::memory_order_relaxed);
    observer->changed.notify_all();
    return true;
  }
  return false;
}

uint64_t threads_of(const SanitizerLaunchData& data) {
  return uint64_t{data.grid[0]} * data.grid[1] * data.grid[2] * data.block[0] * data.block[1] *
         data.block[2];
}

// How many slots a launch may fill: what the kernel did before, or a guess, which grows with each
// launch until one is read, so that many at once do not fill a table. The mutex is held.
uint64_t expected_slots(Context& context, const Launch& launch) {
  const auto known = context.slots_of_thread.find(launch.function);
  const uint64_t slots =
      known != context.slots_of_thread.end()
          ? static_cast<uint64_t>(known->second * static_cast<double>(launch.threads))
          : kSlotsOfThread * launch.threads * ++context.guessed[launch.function];
  return std::min(slots + 1, most_slots(kLargeSlots));
}

// The place of a launch in a table; null if it cannot be observed.
TouchLaunch* place_for(const SanitizerLaunchData& data, const Launch& launch) {
  std::lock_guard lock(observer->mutex);
  Context* const context = context_of(data.context);
  if (context == nullptr || context->abandoned) return nullptr;
  for (Table& table : context->tables) {
    if (table.device != nullptr) continue;
    const bool small = &table < context->tables + 2;
    if (const char* why =
            table.make(data.context, data.own_stream, small ? kSmallSlots : kLargeSlots)) {
      give_up(*context, existing_thread(), why);
      return nullptr;
    }
  }
  const uint64_t slots = expected_slots(*context, launch);
  const Table* const filling = context->filling;
  if (filling == nullptr || filling->is_nearly_full() ||
      filling->expected_slots + slots > filling->full_slots())
    take_turns(*context, slots);
  Table* const table = context->filling;
  Table** const end = open_tables.tables + open_tables.count;
  if (std::find(open_tables.tables, end, table) == end) {
    if (open_tables.count == OpenTables::kMost) return nullptr;
    open_tables.tables[open_tables.count++] = table;
    ++table->being_launched;
  }
  return table->add(launch, normal_stream(reinterpret_cast<uintptr_t>(data.stream)),
                    data.own_stream, slots);
}

bool is_half_full(const Table& table) {
  return table.is_nearly_full() || table.expected_slots > table.full_slots() / 2;
}

// Whether the next launch has room, whatever it touches. It is called until it is true. In the
// driver a launch may not wait: there it may hold what the reading thread needs. The mutex is held.
bool has_room(Context& context) {
  if (context.abandoned) return true;
  Table& filling = *context.filling;
  if (is_half_full(filling) && !take_turns(context, 0)) return false;
  return std::ranges::any_of(context.tables, [&](const Table& table) {
    return table.header.capacity == kLargeSlots &&
           (table.state == Table::kFree || (&table == context.filling && !is_half_full(table)));
  });
}

// Every launch of patched code needs its data set: what it has otherwise is no valid pointer.
void launch_begins(const SanitizerLaunchData& data) {
  TouchLaunch* place = nullptr;
  ThreadState* const thread = existing_thread();
  if (running() && thread != nullptr && thread->open_entry != nullptr && collects(thread->begin) &&
      is_launch(thread->open_entry->kind)) {
    const Launch launch{thread->open_number,
                        thread->begin,
                        data.function,
                        threads_of(data),
                        thread->open_entry->kind == CallKind::kGraphLaunch,
                        code_of(data)};
    if (!launch.of_graph) thread->launched_code = launch.code;
    place = place_for(data, launch);
    if (place == nullptr) push_range(*thread, launch, kNotKnown);
  }
  if (sanitizer.sanitizerSetLaunchCallbackData(data.launch, data.function, data.own_stream,
                                               place) != 0 &&
      place != nullptr)
    push_range(*thread, {thread->open_number, thread->begin}, kNotKnown);
}

// The end of launches. The driver is never called while the mutex is held: a launch in a callback
// holds what the driver needs, and waits for the mutex.

// In the thread that uses or ends the stream, outside of captures: records a mark for each table
// that has launches there and is closed, or for every one.
void mark(Context& context, uint64_t handle, bool closed_only) {
  for (Table& table : context.tables) {
    CUevent mark = nullptr;
    {
      std::lock_guard lock(observer->mutex);
      if (table.state == Table::kFree || (closed_only && table.state != Table::kClosed)) continue;
      StreamOfTable* const stream = table.find(handle, StreamOfTable::kRuns);
      if (stream == nullptr) continue;
      stream->state = StreamOfTable::kGetsMark;  // so the table is not read meanwhile
      if (!context.free_marks.empty()) {
        mark = context.free_marks.back();
        context.free_marks.pop_back();
      }
    }
    const bool marked =
        (mark != nullptr || cuda.cuEventCreate(&mark, CU_EVENT_DISABLE_TIMING) == 0) &&
        cuda.cuEventRecord(mark, reinterpret_cast<CUstream>(handle)) == 0;
    std::lock_guard lock(observer->mutex);
    StreamOfTable* const stream = table.find(handle, StreamOfTable::kGetsMark);
    stream->state = marked ? StreamOfTable::kMarked : StreamOfTable::kRuns;
    stream->mark = mark;
  }
}

// Of a closed table, in the reading thread with the context current.
bool has_ended(Context& context, Table& table) {
  std::vector<StreamOfTable> streams;
  {
    std::lock_guard lock(observer->mutex);
    if (context.abandoned || table.being_launched != 0) return false;
    streams = table.streams;
  }
  for (StreamOfTable& stream : streams) {
    if (!stream.is_done()) stream.handle = 0;
  }
  std::lock_guard lock(observer->mutex);
  for (size_t i = 0; i < streams.size(); ++i) {
    StreamOfTable& stream = table.streams[i];
    if (streams[i].handle == 0 || stream.state == StreamOfTable::kGetsMark) continue;
    if (stream.mark != nullptr) context.free_marks.push_back(std::exchange(stream.mark, nullptr));
    stream.state = StreamOfTable::kDone;
  }
  return std::ranges::all_of(table.streams, [](const StreamOfTable& stream) {
    return stream.state == StreamOfTable::kDone;
  });
}

// Reading.

void report_launches(ThreadState& thread, RoomInRing& room, const std::vector<Launch>& launches,
                     const Contents& contents) {
  const auto push = [&](const Launch& launch, const TouchedRange& range) {
    room.wait_for(2);
    push_range(thread, launch, range);
  };
  const TouchedRanges ranges(contents.runs, contents.granules);
  for (uint32_t launch = 0; launch < launches.size(); ++launch) {
    size_t count = 0;
    ranges.of_launch(launch, [&](const TouchedRange& range) {
      if (++count > kMostRanges) return false;
      push(launches[launch], range);
      return true;
    });
    const bool known = contents.complete && count <= kMostRanges &&
                       (contents.launches[launch].flags & kTableFull) == 0 &&
                       (launches[launch].code & (kByTensorMap | kTouchesUnseen)) == 0;
    // Kernels of one graph launch share a place. Another kernel without any access may have touched
    // memory in a way that is not patched.
    if (known && count == 0 && launches[launch].of_graph) {
      push(launches[launch], kNothing);
    } else if (!known || count == 0) {
      push(launches[launch], kNotKnown);
    }
  }
}

// All launches of the table have ended, and the context is current.
void read_closed_table(ThreadState& thread, RoomInRing& room, Context& context, Table& table) {
  Contents contents;
  const bool done = context.reader.read(table, contents);
  const char* const failure = done ? nullptr : context.reader.failure();
  if (!done) contents = {.launches = std::vector<TouchLaunch>(table.launches.size())};
  std::vector<Launch> launches;
  {
    std::lock_guard lock(observer->mutex);
    launches = table.reuse();
    for (size_t i = 0; i < launches.size(); ++i) {
      double& most = context.slots_of_thread[launches[i].function];
      most = std::max(most, contents.launches[i].slots / static_cast<double>(launches[i].threads));
      context.guessed.erase(launches[i].function);
    }
    context.impatient = false;
    ++observer->reporting;
    if (!done) give_up(context, &thread, failure);
  }
  observer->changed.notify_all();
  report_launches(thread, room, launches, contents);
  std::lock_guard lock(observer->mutex);
  --observer->reporting;
}

// Takes turns where the table that is being filled is old. The mutex is held.
void close_old_table(Context& context) {
  const Table* const filling = context.filling;
  if (filling != nullptr && filling->state == Table::kFilling && !filling->launches.empty() &&
      (observer->finishing || filling->is_nearly_full() ||
       monotonic_ns() - filling->since_ns > kOldNs))
    take_turns(context, 0);
}

// Reads the tables whose launches have ended. False if there is none.
bool read_context(ThreadState& thread, RoomInRing& room, Context& context) {
  std::vector<Table*> closed;  // only this thread changes them
  {
    std::lock_guard lock(observer->mutex);
    if (context.abandoned) return false;
    close_old_table(context);
    for (Table& table : context.tables) {
      if (table.state == Table::kClosed) closed.push_back(&table);
    }
    wants_marks.store(!closed.empty(), std::memory_order_relaxed);
  }
  if (closed.empty() || cuda.cuCtxPushCurrent(context.handle) != 0) return false;
  bool any_read = false;
  for (Table* const table : closed) {
    if (!has_ended(context, *table)) continue;
    read_closed_table(thread, room, context, *table);
    any_read = true;
  }
  CUcontext before = nullptr;
  cuda.cuCtxPopCurrent(&before);
  return any_read;
}

void* read_tables(void*) {
  ThreadState* const thread = own_thread_state(session.control->ring_records * kRingFactor);
  if (thread == nullptr) return nullptr;
  RoomInRing room(*thread);
  // Whatever captures the program makes, calls of this thread are no part of them.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (cuda.cuThreadExchangeStreamCaptureMode != nullptr)
    cuda.cuThreadExchangeStreamCaptureMode(&mode);
  std::unique_lock lock(observer->mutex);
  for (;;) {
    const bool hurries =
        observer->waiting > 0 || observer->finishing || wants_marks.load(std::memory_order_relaxed);
    observer->changed.wait_for(lock, std::chrono::microseconds(hurries ? 50 : 5000));
    const std::vector<Context*> contexts = observer->contexts;
    lock.unlock();
    bool any_read = false;
    for (Context* context : contexts) any_read |= read_context(*thread, room, *context);
    lock.lock();
    if (any_read) observer->changed.notify_all();
  }
  return nullptr;
}

// Waits until the reading thread has read all tables. False if launches do not end in time. The
// mutex is held.
bool finish(std::unique_lock<std::mutex>& lock) {
  observer->finishing = true;
  observer->changed.notify_all();
  const auto is_over = [] {
    return observer->reporting == 0 &&
           std::ranges::all_of(observer->contexts, [](const Context* context) {
             return context->abandoned ||
                    std::ranges::all_of(context->tables,
                                        [](const Table& table) { return table.launches.empty(); });
           });
  };
  const bool over =
      observer->changed.wait_for(lock, std::chrono::milliseconds(kMostEndMs), is_over);
  observer->finishing = false;
  return over;
}

// The wrapped call that destroys it has waited for its launches.
void context_ends(CUcontext handle) {
  std::lock_guard lock(observer->mutex);
  Context* const context = context_of(handle);
  if (context == nullptr) return;
  abandon(*context, existing_thread());
  context->ended = true;
}

bool is_ours() {
  const ThreadState* const thread = existing_thread();
  return thread != nullptr && thread->in_collector;
}

void on_callback(void*, int domain, uint32_t id, const void* data) {
  if (!session.observes || is_ours()) return;
  if (domain == kLaunchDomain && id == kLaunchBegins) {
    launch_begins(*static_cast<const SanitizerLaunchData*>(data));
  } else if (domain == kGraphDomain && id == kNodeLaunchBegins) {
    const auto& node = *static_cast<const SanitizerNodeData*>(data);
    if (node.type == CU_GRAPH_NODE_TYPE_KERNEL) launch_begins(node.launch);
  } else if (domain == kResourceDomain && id == kModuleLoaded) {
    module_loaded(*static_cast<const SanitizerModuleData*>(data));
  } else if (domain == kResourceDomain && id == kModuleUnloadStarts) {
    module_ends(*static_cast<const SanitizerModuleData*>(data));
  } else if (domain == kResourceDomain && id == kContextCreated) {
    context_created(static_cast<const SanitizerContextData*>(data)->context);
  } else if (domain == kResourceDomain && id == kContextDestroyStarts) {
    context_ends(static_cast<const SanitizerContextData*>(data)->context);
  }
}

}  // namespace

const char* observing_obstacle() {
  if (!find_cuda() || cuda.cuEventRecord == nullptr || cuda.cuMemsetD8Async == nullptr)
    return "the version of the driver lacks what that needs";
  return load_sanitizer();
}

bool start_observing() {
  if (observer == nullptr) observer = new (observer_memory) Observer;
  if (sanitizer.sanitizerSubscribe(&observer->subscriber, on_callback, nullptr) != 0) return false;
  if (!start_thread("streamscope-acc", read_tables, nullptr)) {
    sanitizer.sanitizerUnsubscribe(observer->subscriber);
    return false;
  }
  session.observes = true;
  for (const int domain : {kResourceDomain, kLaunchDomain, kGraphDomain})
    sanitizer.sanitizerEnableDomain(1, observer->subscriber, domain);
  return true;
}

void observe_before_launch(uint64_t stream) {
  CUcontext current = nullptr;
  if (cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS) return;
  std::unique_lock lock(observer->mutex);
  Context* const context = context_of(current);
  if (context == nullptr || context->abandoned || context->filling == nullptr) return;
  const auto is_ready = [&] { return has_room(*context); };
  if (!is_ready() && !context->impatient) {
    ++observer->waiting;
    observer->changed.notify_all();
    context->impatient =
        !observer->changed.wait_for(lock, std::chrono::milliseconds(kMostWaitMs), is_ready);
    --observer->waiting;
  }
  lock.unlock();
  // Before the launch, so that the end of those in closed tables is known while it runs.
  if (wants_marks.load(std::memory_order_relaxed) && session.active_captures.load() == 0)
    mark(*context, normal_stream(stream), true);
}

void observe_after_launch() {
  if (open_tables.count == 0) return;
  std::lock_guard lock(observer->mutex);
  while (open_tables.count > 0) --open_tables.tables[--open_tables.count]->being_launched;
}

void observe_stream_end(uint64_t stream) {
  if (session.active_captures.load() > 0) return;
  std::vector<Context*> contexts;
  {
    std::lock_guard lock(observer->mutex);
    std::ranges::copy_if(observer->contexts, std::back_inserter(contexts),
                         [](const Context* context) { return !context->abandoned; });
  }
  for (Context* context : contexts) {
    CUcontext before = nullptr;
    if (cuda.cuCtxPushCurrent(context->handle) != 0) continue;
    mark(*context, normal_stream(stream), false);
    cuda.cuCtxPopCurrent(&before);
  }
}

bool report_touched() {
  std::unique_lock lock(observer->mutex);
  return finish(lock);
}

void observe_no_more(const char* why) {
  std::vector<CUmodule> modules;
  {
    std::unique_lock lock(observer->mutex);
    if (std::exchange(observer->over, true)) return;
    finish(lock);
    for (Context* context : observer->contexts) abandon(*context, existing_thread());
    for (const auto& [module, code] : observer->modules) modules.push_back(module);
    observer->modules.clear();
  }
  report_loss(ring::Loss::kNotObserved, 1, why);
  for (const int domain : {kLaunchDomain, kGraphDomain})
    sanitizer.sanitizerEnableDomain(0, observer->subscriber, domain);
  std::lock_guard lock(patching);
  for (const CUmodule module : modules) sanitizer.sanitizerUnpatchModule(module);
}

void finish_observing() {
  if (!session.observes) return;
  std::unique_lock lock(observer->mutex);
  if (finish(lock)) return;
  for (Context* context : observer->contexts) abandon(*context, this_thread());
}

void forget_observing_after_fork() {
  session.observes = false;
  observer = nullptr;  // its thread and tables are the parent's
  new (&patching) std::mutex;
}

}  // namespace streamscope::collect
