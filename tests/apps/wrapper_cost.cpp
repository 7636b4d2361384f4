// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the wrappers of a collector add to a call, within one process: the loop of launch, record
// and wait by the functions that dlsym gives, and by the driver's own, which are found in its table
// of symbols. Both take turns of a millisecond; the report has the difference of each pair, ns a
// call, and that of two turns by the driver's own functions.
//   wrapper_cost [--pairs N]
#include <elf.h>
#include <link.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <span>

#include "driver.h"

namespace {

constexpr int kStreams = 4;
constexpr int kRounds = 200;  // of a turn: 600 calls, 150 operations in each stream
constexpr int kWarmUpRounds = 20;

/// The three functions of the loop.
struct Calls {
  decltype(&::cuLaunchKernel) launch;
  decltype(&::cuEventRecord) record;
  decltype(&::cuStreamWaitEvent) wait;
};

/// The symbols of a loaded library, read from its file, so that nobody who wraps dlsym has a say.
class Symbols {
 public:
  explicit Symbols(const char* library) {
    link_map* map = nullptr;
    void* handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) counted::skip(dlerror());
    base_ = map->l_addr;
    std::ifstream file(map->l_name, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    const auto* header = at<Elf64_Ehdr>(0, 1).data();
    for (const Elf64_Shdr& section : at<Elf64_Shdr>(header->e_shoff, header->e_shnum)) {
      if (section.sh_type != SHT_DYNSYM) continue;
      symbols_ = at<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
      const auto sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
      names_ = sections[section.sh_link].sh_offset;
    }
  }

  template <class Function>
  Function find(const char* name) const {
    for (const Elf64_Sym& symbol : symbols_) {
      if (symbol.st_value != 0 && std::strcmp(&bytes_[names_ + symbol.st_name], name) == 0)
        return reinterpret_cast<Function>(base_ + symbol.st_value);
    }
    counted::skip("the driver's file has no table of symbols");
  }

 private:
  template <class Entry>
  std::span<const Entry> at(size_t offset, size_t count) const {
    if (offset + count * sizeof(Entry) > bytes_.size()) counted::skip("the driver's file is short");
    return {reinterpret_cast<const Entry*>(&bytes_[offset]), count};
  }

  uintptr_t base_ = 0;
  std::vector<char> bytes_;
  std::span<const Elf64_Sym> symbols_;
  size_t names_ = 0;
};

std::string as_json(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "[" : ",") + std::to_string(value);
  return text + "]";
}

}  // namespace

int main(int argc, char** argv) {
  const driver::Functions driver = driver::load();
  const long long pairs = counted::option(argc, argv, "--pairs", 500);
  const CUfunction add = driver::load_add(driver).function;
  CUstream streams[kStreams];
  CUevent events[kStreams];
  CUdeviceptr values;
  CALL_ON(driver., cuMemAlloc, &values, sizeof(int));
  for (int i = 0; i < kStreams; ++i) {
    CALL_ON(driver., cuStreamCreate, &streams[i], CU_STREAM_NON_BLOCKING);
    CALL_ON(driver., cuEventCreate, &events[i], CU_EVENT_DISABLE_TIMING);
  }

  const Symbols symbols("libcuda.so.1");
  const Calls found{driver.cuLaunchKernel, driver.cuEventRecord, driver.cuStreamWaitEvent};
  const Calls own{symbols.find<decltype(&::cuLaunchKernel)>("cuLaunchKernel"),
                  symbols.find<decltype(&::cuEventRecord)>("cuEventRecord"),
                  symbols.find<decltype(&::cuStreamWaitEvent)>("cuStreamWaitEvent")};
  unsigned amount = 0;
  void* arguments[] = {&values, &amount};
  const auto run = [&](const Calls& calls, int rounds) {
    CUresult result = CUDA_SUCCESS;
    for (int round = 0; round < rounds && result == CUDA_SUCCESS; ++round) {
      const int here = round % kStreams, next = (round + 1) % kStreams;
      result = calls.launch(add, 1, 1, 1, 1, 1, 1, 0, streams[here], arguments, nullptr);
      if (result == CUDA_SUCCESS) result = calls.record(events[here], streams[here]);
      if (result == CUDA_SUCCESS) result = calls.wait(streams[next], events[here], 0);
    }
    counted::check(result, "launch, record or wait", __FILE__, __LINE__);
  };
  const auto turn = [&](const Calls& calls) {
    run(calls, kWarmUpRounds);
    CALL_ON(driver., cuCtxSynchronize, );
    const auto start = std::chrono::steady_clock::now();
    run(calls, kRounds);
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    CALL_ON(driver., cuCtxSynchronize, );
    return spent.count() / (3.0 * kRounds);
  };

  for (int i = 0; i < 20; ++i) turn(i % 2 == 0 ? found : own);
  std::vector<double> direct, added, again;
  for (long long pair = 0; pair < pairs; ++pair) {
    const auto difference = [&](const Calls& calls) {
      const bool first = pair % 2 == 0;  // neither always follows the other
      const double a = turn(first ? calls : own), b = turn(first ? own : calls);
      direct.push_back(first ? b : a);
      return first ? a - b : b - a;
    };
    added.push_back(difference(found));
    again.push_back(difference(own));
  }
  counted::note("wrapped", std::string(found.launch == own.launch ? "false" : "true"));
  counted::note("direct_ns", as_json(direct));
  counted::note("added_ns", as_json(added));
  counted::note("again_ns", as_json(again));
  counted::report("wrapper_cost");
}
