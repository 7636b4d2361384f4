// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A preloaded library between our code and libc: it counts the calls by which the recorder, the
// writer and the collector use the system, and makes one of them fail, or kills the process there.
//
// A call's place is the path to it: the innermost frames, and the innermost frames of our own code.
// In `streamscope` every call counts; in any other program only those of libstreamscope_inject.so,
// never the program's own.
//
// FAULTS_TABLE names a file of sizeof(Table) bytes created by the driver (run.py). It contains what
// to do and, for all processes of a run together, what was seen. Each pair of call and place is
// also written once to the file FAULTS_LOG.

#include "injector.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "vocabulary/fnv1a.h"

namespace faults {
namespace {

// libc's functions of these names are replaced here, so the injector itself calls the kernel.
long raw(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

struct Range {
  uintptr_t begin = 0, end = 0;
  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

struct Module {
  Range code;
  uintptr_t base = 0;
  char name[40] = {};
};

constexpr int kMostModules = 64;
Module modules[kMostModules];
int module_count = 0;
Range own, program, collector;
Table* table = nullptr;
const char* log_file = nullptr;
bool in_streamscope = false, in_main = false;

enum class State { kNew, kStarting, kOn, kOff };
State state = State::kNew;
__attribute__((tls_model("initial-exec"))) thread_local int depth = 0;

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

int add_module(dl_phdr_info* facts, size_t, void* exe) {
  if (module_count == kMostModules) return 1;
  Module& module = modules[module_count++];
  module.base = facts->dlpi_addr;
  const bool is_program = facts->dlpi_name[0] == '\0' && module_count == 1;
  const char* name = is_program ? static_cast<const char*>(exe) : facts->dlpi_name;
  std::strncpy(module.name, base_name(name), sizeof module.name - 1);
  for (int i = 0; i < facts->dlpi_phnum; ++i) {
    const auto& segment = facts->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    module.code.begin = facts->dlpi_addr + segment.p_vaddr;
    module.code.end = module.code.begin + segment.p_memsz;
  }
  if (is_program) program = module.code;
  if (module.code.holds(reinterpret_cast<uintptr_t>(&add_module))) own = module.code;
  if (std::strncmp(module.name, "libstreamscope_inject", 21) == 0) collector = module.code;
  return 0;
}

bool start() {
  if (state != State::kNew) return state == State::kOn;
  state = State::kStarting;
  const char* file = std::getenv("FAULTS_TABLE");
  log_file = std::getenv("FAULTS_LOG");
  static char exe[512];
  const long length = raw(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
                          reinterpret_cast<long>(exe), sizeof exe - 1);
  long descriptor = file == nullptr || length <= 0
                        ? -1
                        : raw(SYS_open, reinterpret_cast<long>(file), O_RDWR | O_CLOEXEC);
  if (descriptor >= 0) {
    const long base =
        raw(SYS_mmap, 0, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    raw(SYS_close, descriptor);
    if (base > 0) table = reinterpret_cast<Table*>(base);
  }
  if (table == nullptr) {
    state = State::kOff;
    return false;
  }
  in_streamscope = std::strcmp(base_name(exe), "streamscope") == 0;
  ::dl_iterate_phdr(add_module, exe);
  state = State::kOn;
  return true;
}

bool is_ours(uintptr_t address) {
  return collector.holds(address) || (in_streamscope && program.holds(address));
}

constexpr int kInnermost = 2, kOfOurs = 4;

// The innermost frames outside this library.
struct Frames {
  static constexpr int kMost = 24;
  uintptr_t at[kMost];
  int count = 0, ours = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* pointer) {
  auto* frames = static_cast<Frames*>(pointer);
  const uintptr_t address = _Unwind_GetIP(context);
  if (own.holds(address)) return _URC_NO_REASON;
  if (frames->count == Frames::kMost || address == 0) return _URC_END_OF_STACK;
  frames->at[frames->count++] = address;
  frames->ours += is_ours(address) ? 1 : 0;
  return frames->ours == kOfOurs && frames->count >= kInnermost ? _URC_END_OF_STACK
                                                                : _URC_NO_REASON;
}

// The frames that make up the place, as module and offset.
struct Place {
  uint64_t hash = streamscope::kFnv1aStart;
  const Module* module[kInnermost + kOfOurs];
  uintptr_t offset[kInnermost + kOfOurs];
  int count = 0;

  void mix(uint64_t value) { mix({reinterpret_cast<const char*>(&value), sizeof value}); }
  void mix(std::string_view text) { hash = streamscope::fnv1a(text, hash); }
};

Place place_of(const char* call) {
  Frames frames;
  _Unwind_Backtrace(add_frame, &frames);
  Place place;
  place.mix(in_streamscope ? "recorder" : "target");
  place.mix(call);
  int ours = 0;
  for (int i = 0; i < frames.count && ours < kOfOurs; ++i) {
    const bool own_code = is_ours(frames.at[i]);
    if (i >= kInnermost && !own_code) continue;
    ours += own_code ? 1 : 0;
    for (int m = 0; m < module_count; ++m) {
      if (!modules[m].code.holds(frames.at[i])) continue;
      place.module[place.count] = &modules[m];
      place.offset[place.count++] = frames.at[i] - modules[m].base;
      place.mix(modules[m].name);
      place.mix(frames.at[i] - modules[m].base);
      break;
    }
  }
  return place;
}

void tell(const char* what, const char* call, const Place& place, int file) {
  char line[640];
  int size = std::snprintf(line, sizeof line, "%s %016llx %s %s %ld %d", what,
                           static_cast<unsigned long long>(place.hash),
                           in_streamscope ? "recorder" : "target", call, raw(SYS_getpid), file);
  for (int i = 0; i < place.count && size < 560; ++i)
    size += std::snprintf(line + size, sizeof line - size, " %s+%lx", place.module[i]->name,
                          place.offset[i]);
  line[size++] = '\n';
  const long log = raw(SYS_open, reinterpret_cast<long>(log_file),
                       O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log < 0) return;
  raw(SYS_write, log, reinterpret_cast<long>(line), size);
  raw(SYS_close, log);
}

void count(const char* call, const Place& place, int file) {
  for (uint64_t i = 0; i < kSlots; ++i) {
    Slot& slot = table->slots[(place.hash + i) % kSlots];
    uint64_t seen = slot.key.load(std::memory_order_relaxed);
    if (seen == 0 && slot.key.compare_exchange_strong(seen, place.hash)) {
      seen = place.hash;
      if (log_file != nullptr) tell("seen", call, place, file);
    }
    if (seen != place.hash) continue;
    slot.count.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

bool is_memory_call(uint32_t kinds) { return (kinds & kHeap) != 0; }

Verdict strike(const char* call, const Place& place, int file) {
  if (log_file != nullptr) tell("fired", call, place, file);
  Verdict verdict;
  switch (table->action) {
    case Action::kKillBefore:
      die();
    case Action::kKillAfter:
      verdict.kill_after = true;
      break;
    case Action::kShort:
      verdict.is_short = true;
      break;
    default:
      verdict.error = table->error;
  }
  return verdict;
}

bool is_plain_file(int file) {
  struct stat facts;
  return raw(SYS_fstat, file, reinterpret_cast<long>(&facts)) == 0 && S_ISREG(facts.st_mode);
}

}  // namespace

Verdict decide(const char* call, uint32_t kinds, const void* caller, int file) {
  if (depth != 0 || !start() || table->action == Action::kNothing) return {};
  if (is_memory_call(kinds) && table->heap == 0) return {};
  if (in_streamscope && !in_main) return {};
  if (!in_streamscope && !collector.holds(reinterpret_cast<uintptr_t>(caller))) return {};
  // As for a disk that stays full: calls of the same kind fail from then on, except messages.
  const int error_before = errno;
  ++depth;
  Verdict verdict;
  if (table->sticky != 0 && table->fired.load(std::memory_order_relaxed) != 0) {
    const bool data = (kinds & (kWrite | kRead)) != 0;
    if ((kinds & table->sticky) != 0 && (!data || (file > STDERR_FILENO && is_plain_file(file)))) {
      verdict.error = table->action == Action::kError ? table->error : 0;
      verdict.is_short = table->action == Action::kShort;
    }
  } else {
    const Place place = place_of(call);
    if (table->action == Action::kCount) {
      count(call, place, file);
    } else if (place.hash == table->wanted && table->hits.fetch_add(1) + 1 == table->nth) {
      table->fired.store(1);
      verdict = strike(call, place, file);
    }
  }
  --depth;
  errno = error_before;
  return verdict;
}

void main_begins() { in_main = true; }

void die() {
  for (;;) raw(SYS_kill, raw(SYS_getpid), SIGKILL);
}

}  // namespace faults
