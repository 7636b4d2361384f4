// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "unwind.h"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "record/symbols/symbolize.h"
#if STREAMSCOPE_HAVE_LIBDW
#include <elfutils/libdwfl.h>
#endif

namespace streamscope::record {

#if STREAMSCOPE_HAVE_LIBDW
namespace {

constexpr size_t kMaxFrames = 96;  // the driver's own frames may be many

struct Work {
  pid_t process;
  std::set<uint32_t> tids;
  std::mutex mutex;
  std::condition_variable changed;
  SeenStacks seen;
  bool done = false;
};

struct Walk {
  Dwfl* session;
  std::vector<uint64_t> addresses;
};

int add_frame(Dwfl_Frame* frame, void* pointer) {
  auto& walk = *static_cast<Walk*>(pointer);
  Dwarf_Addr address = 0;
  bool innermost = false;
  if (!dwfl_frame_pc(frame, &address, &innermost)) return DWARF_CB_ABORT;
  // A return address is after its call.
  walk.addresses.push_back(innermost ? address : address - 1);
  return walk.addresses.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

SeenFrame describe(Dwfl* session, uint64_t address, Symbolizer& names) {
  SeenFrame frame{.address = address, .module = {}, .symbol = {}};
  Dwfl_Module* module = dwfl_addrmodule(session, address);
  if (module == nullptr) return frame;
  const char* file = nullptr;
  GElf_Addr bias = 0;
  const char* name =
      dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &file, nullptr);
  if (dwfl_module_getelf(module, &bias) == nullptr) return frame;
  frame.address = address - bias;
  frame.module = file != nullptr ? file : name != nullptr ? name : "";
  frame.symbol = names.name({frame.module, frame.address});
  return frame;
}

// One thread after the other, so that each is stopped as briefly as possible; names are looked up
// after they continue.
void walk_threads(const std::shared_ptr<Work>& work) {
  static constexpr Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                                .find_debuginfo = dwfl_build_id_find_debuginfo,
                                                .section_address = dwfl_offline_section_address,
                                                .debuginfo_path = nullptr};
  Dwfl* session = dwfl_begin(&kCallbacks);
  const auto fail = [&](const char* why) {
    const std::lock_guard lock(work->mutex);
    if (work->seen.failure.empty()) work->seen.failure = why;
  };
  if (session == nullptr || dwfl_linux_proc_report(session, work->process) != 0 ||
      dwfl_report_end(session, nullptr, nullptr) != 0) {
    fail("its mapped files cannot be read");
  } else if (const int error = dwfl_linux_proc_attach(session, work->process, false); error != 0) {
    fail(error > 0 ? std::strerror(error) : dwfl_errmsg(-1));
  } else {
    Symbolizer names;
    for (const uint32_t tid : work->tids) {
      Walk walk{session, {}};
      errno = 0;
      const int result = dwfl_getthread_frames(session, static_cast<pid_t>(tid), add_frame, &walk);
      if (walk.addresses.empty()) {
        if (result < 0) fail(errno == EPERM ? "tracing is not permitted" : dwfl_errmsg(-1));
        continue;
      }
      std::vector<SeenFrame> frames;
      frames.reserve(walk.addresses.size());
      for (const uint64_t address : walk.addresses)
        frames.push_back(describe(session, address, names));
      const std::lock_guard lock(work->mutex);
      work->seen.by_tid.emplace(tid, std::move(frames));
    }
  }
  if (session != nullptr) dwfl_end(session);
  const std::lock_guard lock(work->mutex);
  work->done = true;
  work->changed.notify_all();
}

}  // namespace

SeenStacks unwind(pid_t process, const std::vector<uint32_t>& tids,
                  std::chrono::milliseconds limit) {
  auto work = std::make_shared<Work>();
  work->process = process;
  work->tids.insert(tids.begin(), tids.end());
  std::thread(walk_threads, work).detach();
  std::unique_lock lock(work->mutex);
  const bool done = work->changed.wait_until(lock, std::chrono::system_clock::now() + limit,
                                             [&] { return work->done; });
  SeenStacks seen = work->seen;
  if (!done && seen.failure.empty()) seen.failure = "a thread could not be stopped in time";
  return seen;
}

#else

SeenStacks unwind(pid_t, const std::vector<uint32_t>&, std::chrono::milliseconds) {
  return {.by_tid = {}, .failure = "this build has no libdw"};
}

#endif

}  // namespace streamscope::record
