// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Checks everything that recording and viewing need, and says what to do if something is missing.

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "analysis/units.h"
#include "command.h"
#include "inject_library.h"
#include "report/formats/json.h"
#include "terminal.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

enum class Status { kOk, kNote, kProblem };

/// A note is a limitation; a problem prevents recording.
struct Answer {
  Status status;
  std::string text;
  std::string advice = {};
};

// How each status is shown.
struct Look {
  const char* name;
  const char* color;
};
constexpr Look kLooks[] = {{"ok", "\x1b[32m"}, {"note", "\x1b[33m"}, {"problem", "\x1b[1;31m"}};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

template <class Function>
Function* look_up(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// CUDA writes versions as 1000 * major + 10 * minor.
std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Answer check_gpu() {
  // Otherwise the driver loads another tool's library, or ours, into this program.
  unsetenv("CUDA_INJECTION64_PATH");
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) {
    return {Status::kNote, "no NVIDIA driver (libcuda.so.1) found",
            "install the driver, or record on the simulated device: streamscope demo --device sim"};
  }
  const auto init = look_up<int(unsigned)>(driver, "cuInit");
  const auto driver_version = look_up<int(int*)>(driver, "cuDriverGetVersion");
  const auto device_count = look_up<int(int*)>(driver, "cuDeviceGetCount");
  const auto device_name = look_up<int(char*, int, int)>(driver, "cuDeviceGetName");
  int version = 0, count = 0;
  if (!init || !driver_version || !device_count || !device_name) {
    return {Status::kNote, "libcuda.so.1 is not a CUDA driver", "reinstall the NVIDIA driver"};
  }
  driver_version(&version);
  if (const int result = init(0); result != 0) {
    return {Status::kNote,
            fmt::format("the driver for CUDA {} does not initialize (code {})",
                        cuda_version(version), result),
            "run nvidia-smi for details; in a container, pass the GPU through"};
  }
  device_count(&count);
  if (count == 0) return {Status::kNote, "driver found, but no GPU", "check CUDA_VISIBLE_DEVICES"};
  std::string names;
  for (int device = 0; device < count; ++device) {
    char name[256] = {};
    device_name(name, sizeof name - 1, device);
    names += fmt::format("{}{}", device ? ", " : "", name);
  }
  return {Status::kOk, fmt::format("{}; driver for CUDA {}", names, cuda_version(version))};
}

// The search order of the collector, except what depends on the recorded program.
Answer check_cupti() {
  std::vector<std::string> candidates;
  const std::string named = variable("STREAMSCOPE_CUPTI");
  if (!named.empty()) {
    candidates.push_back(named);
  } else {
    const char* const names[] = {"libcupti.so.13", "libcupti.so.12"};
    candidates = {names[0], names[1]};
    for (const std::string& home :
         {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
      if (home.empty()) continue;
      for (const char* folder :
           {"lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "lib"}) {
        for (const char* name : names) candidates.push_back(home + '/' + folder + '/' + name);
      }
    }
  }
  for (const std::string& candidate : candidates) {
    void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    uint32_t version = 0;
    const auto get_version = look_up<int(uint32_t*)>(library, "cuptiGetVersion");
    if (!get_version || get_version(&version) != 0) continue;
    Dl_info place{};
    dladdr(reinterpret_cast<void*>(get_version), &place);
    return {Status::kOk, fmt::format("CUPTI API version {} at {}", version,
                                     place.dli_fname ? place.dli_fname : candidate)};
  }
  return {
      Status::kNote,
      fmt::format("{}{}",
                  named.empty() ? "no libcupti found outside recorded programs; searched for "
                                : "STREAMSCOPE_CUPTI is not a usable libcupti: ",
                  fmt::join(candidates, ", ")),
      "install the CUDA toolkit's libcupti or set STREAMSCOPE_CUPTI to its path; not needed for "
      "programs that ship their own (PyTorch)"};
}

// The search order of the collector.
Answer check_sanitizer() {
  std::vector<std::string> candidates;
  if (const std::string named = variable("STREAMSCOPE_SANITIZER"); !named.empty()) {
    candidates.push_back(named);
  } else {
    for (const std::string& home :
         {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")}) {
      if (!home.empty()) candidates.push_back(home + "/compute-sanitizer/libsanitizer-public.so");
    }
  }
  for (const std::string& candidate : candidates) {
    if (access(candidate.c_str(), R_OK) == 0)
      return {Status::kOk, candidate + ", for record --with accesses"};
  }
  return {Status::kNote,
          fmt::format("the Compute Sanitizer was not found; searched for {}",
                      fmt::join(candidates, ", ")),
          "install the CUDA toolkit's compute-sanitizer, or set STREAMSCOPE_SANITIZER to its "
          "libsanitizer-public.so; only record --with accesses needs it"};
}

Answer check_collector() {
  const fs::path library = inject_library();
  if (library.empty()) {
    return {Status::kProblem, "libstreamscope_inject.so was not found",
            "build or install all of StreamScope, or set STREAMSCOPE_INJECT to the library's path"};
  }
  return {Status::kOk, library.string() + (calls_library().empty()
                                               ? "; without libstreamscope_calls.so beside it, so "
                                                 "CUPTI must see the calls"
                                               : "")};
}

Answer check_environment() {
  std::string others;
  for (const char* name :
       {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD", "NSYS_PROFILING_SESSION_ID",
        "CUDA_LAUNCH_BLOCKING", "STREAMSCOPE_RINGS"}) {
    const std::string value = variable(name);
    if (!value.empty()) others += fmt::format("{}{}={}", others.empty() ? "" : ", ", name, value);
  }
  if (others.empty()) return {Status::kOk, "no environment variable of another CUDA tool is set"};
  return {Status::kNote, others,
          "only one tool at a time can use CUPTI; CUDA_LAUNCH_BLOCKING makes every launch wait"};
}

Answer check_clock() {
  constexpr int kReads = 20000;
  using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC
  const Clock::time_point begin = Clock::now();
  Clock::time_point now = begin;
  for (int i = 0; i < kReads; ++i) now = Clock::now();
  const double cost = std::chrono::duration<double, std::nano>(now - begin).count() / kReads;
  const std::string source =
      first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const std::string text =
      fmt::format("{:.0f} ns per clock read{}", cost, source.empty() ? "" : ", source " + source);
  // A clock read by a system call costs more than the rest of a record.
  if (cost > 150)
    return {Status::kNote, text, "recording will be expensive: the clock source is not tsc"};
  return {Status::kOk, text};
}

Answer check_ptrace() {
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  if (scope.empty() || scope == "0") return {Status::kOk, "stacks of hung programs can be read"};
  return {Status::kNote, "kernel.yama.ptrace_scope is " + scope,
          "stacks of hung programs can be read only if they were started by streamscope record"};
}

Answer check_disk() {
  struct statvfs space {};
  if (statvfs(".", &space) != 0 || access(".", W_OK) != 0) {
    return {Status::kProblem, "the working folder is not writable",
            "change to another folder, or record with -o FILE"};
  }
  const auto free = static_cast<int64_t>(space.f_bavail * space.f_frsize);
  struct statfs system {};
  constexpr long kNfs = 0x6969, kLustre = 0x0bd00bd0;
  const bool shared =
      statfs(".", &system) == 0 && (system.f_type == kNfs || system.f_type == kLustre);
  const std::string text =
      fmt::format("{} free in the working folder{}", analysis::format_bytes(free),
                  shared ? ", which is a network file system" : "");
  if (free < (1 << 30)) return {Status::kNote, text, "one minute of recording may need 1 GiB"};
  if (shared) return {Status::kNote, text, "record to a local disk with -o FILE: it is faster"};
  return {Status::kOk, text};
}

Answer check_viewer() {
  std::error_code error;
  if (!fs::exists(program_folder() / "streamscope-viewer", error)) {
    return {Status::kNote, "streamscope-viewer was not built",
            "install Dear ImGui and GLFW and build again"};
  }
  const bool display = !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
  if (display) return {Status::kOk, "a display is set; streamscope view opens a window"};
  void* egl = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (egl) return {Status::kOk, "no display, but streamscope view --screenshot works (EGL)"};
  return {Status::kNote, "no display and no libEGL.so.1",
          "install libegl1 for streamscope view --screenshot"};
}

struct Check {
  const char* name;
  Answer (*answer)();
};
// The environment comes before check_gpu(), which changes it.
constexpr Check kChecks[] = {{"environment", check_environment},
                             {"gpu", check_gpu},
                             {"cupti", check_cupti},
                             {"sanitizer", check_sanitizer},
                             {"collector", check_collector},
                             {"clock", check_clock},
                             {"ptrace", check_ptrace},
                             {"disk", check_disk},
                             {"viewer", check_viewer}};

}  // namespace

std::function<int()> define_doctor(CommandLine& line, ProgramArguments&) {
  auto json = std::make_shared<bool>(false);
  line.option("--json", json.get(), "print JSON");
  return [json]() -> int {
    bool problem = false;
    report::Json list = report::Json::array();
    std::string text;
    for (const auto& [name, check] : kChecks) {
      const Answer answer = check();
      problem |= answer.status == Status::kProblem;
      const Look& look = kLooks[static_cast<size_t>(answer.status)];
      list.push_back({{"name", name},
                      {"status", look.name},
                      {"text", answer.text},
                      {"advice", answer.advice}});
      const bool colored = wants_color();
      text += fmt::format("{}{:<8}{}{:<12} {}\n", colored ? look.color : "", look.name,
                          colored ? "\x1b[0m" : "", name, one_line(answer.text));
      if (!answer.advice.empty()) text += fmt::format("{:<21}{}\n", "", answer.advice);
    }
    if (*json) text = report::dump({{"schema", 1}, {"checks", list}});
    fmt::print("{}", text);
    return problem ? kFound : kDone;
  };
}

}  // namespace streamscope::cli
