// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A rank of a job: `job FOLDER FAULT RANK` with the variables of torchrun. Each iteration fills a
// buffer, calls an all-reduce of each of two communicators, whose stream waits for that, and waits
// for them; a collective ends once every rank has made a file for it in FOLDER. After some
// iterations RANK does something wrong, and the others wait; then the times of their last fill are
// not delivered, as they are in a buffer with those of a kernel that runs. FOLDER/progress.N is
// touched by each iteration. Ends by itself after a minute.
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "child.h"
#include "collect/cupti/decode.h"
#include "support/nccl_range.h"

namespace child {
namespace {

namespace fs = std::filesystem;

const auto kNetwork = handle<cudaStream_t>(0xc00c), kCompute = handle<cudaStream_t>(0xc00b);
const auto kFilled = handle<cudaEvent_t>(0xe00e);
constexpr int kIterations = 30, kFaultyIteration = 12;

int number_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? 0 : std::atoi(value);
}

void make_file(const fs::path& file) { std::ofstream(file).put('\n'); }

// Where the programs are, by name in their stacks.
__attribute__((noinline)) void loads_data(int ms) { pause_ms(ms); }

class Rank {
 public:
  Rank(fs::path folder, std::string fault, bool is_faulty)
      : folder_(std::move(folder)), fault_(is_faulty ? std::move(fault) : "") {
    cuInit(0);
    create_context();
    create_stream(kNetwork, cudaStreamNonBlocking);
    create_stream(kCompute, cudaStreamNonBlocking);
    create_event(kFilled, cudaEventDisableTiming);
    fake_set_pending(kNetwork, true);
    nccl_ = nvtxDomainCreateA("NCCL");
  }

  void run() {
    for (int i = 0; i < kIterations; ++i) {
      const bool now = i == kFaultyIteration;
      if (now) misbehave();
      const bool swapped = now && fault_ == "order";
      const bool other = now && fault_ == "kind";
      fill(!now);
      call(swapped ? 0xe1 : 0xd0, other ? "AllGather" : "AllReduce",
           now && fault_ == "size" ? 4096 : 1024);
      call(swapped ? 0xd0 : 0xe1, "AllReduce", 1024);
      synchronize();
      make_file(folder_ / ("progress." + std::to_string(rank_)));
    }
  }

 private:
  struct Pending {
    const char* kernel;  // CUPTI's names stay
    std::string file;
    uint32_t correlation;
  };

  void misbehave() {
    if (fault_ == "die") ::kill(::getpid(), SIGKILL);
    if (fault_ == "stop") ::raise(SIGSTOP);
    if (fault_ == "late") loads_data(2200);
    if (fault_ == "leave") loads_data(60'000);
    if (fault_ == "exit") std::exit(3);
    if (fault_ != "event") return;
    const cuStreamWaitValue32_v2_params never{kNetwork, reinterpret_cast<CUdeviceptr>(&flag_), 1,
                                              0};
    driver(DRIVER_ID(cuStreamWaitValue32_v2), never);
    is_held_ = true;
  }

  void fill(bool is_delivered) {
    streamscope::collect::KernelActivity kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.correlation_id = launch(kCompute, "fill");
    kernel.context = 1;
    kernel.stream = 0xc00b;
    kernel.start = fake_timestamp();
    kernel.end = kernel.start + 1'000;
    kernel.name = "fill";
    if (is_delivered) fake_activity(&kernel, sizeof kernel, false);
    record(kFilled, kCompute);
    wait(kNetwork, kFilled);
  }

  void call(uint64_t communicator, const std::string& what, uint64_t bytes) {
    const char* const kernel = what == "AllReduce" ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
                                                   : "ncclDevKernel_AllGather_RING_LL";
    const std::string name = "nccl" + what;
    const streamscope::test::NcclRange range(nccl_, name.c_str(), communicator, bytes);
    const int number = numbers_[communicator]++;
    pending_.push_back({kernel,
                        std::to_string(communicator) + "-" + std::to_string(number) + "-" + what +
                            "-" + std::to_string(bytes),
                        launch(kNetwork, kernel)});
  }

  void synchronize() {
    const cudaStreamSynchronize_v3020_params parameters{kNetwork};
    runtime(RUNTIME_ID(cudaStreamSynchronize_v3020), parameters, {.inside = [&](const FakeCall&) {
              for (const Pending& one : pending_) run_on_device(one);
              pending_.clear();
            }});
  }

  void run_on_device(const Pending& one) {
    streamscope::collect::KernelActivity kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.correlation_id = one.correlation;
    kernel.context = 1;
    kernel.stream = 0xc00c;
    kernel.start = fake_timestamp();
    const auto file_of = [&](int rank) {
      return folder_ / (one.file + "." + std::to_string(rank));
    };
    if (!is_held_) make_file(file_of(rank_));
    for (int waited = 0, ranks = 0; ranks < ranks_; waited += 2) {
      while (ranks < ranks_ && fs::exists(file_of(ranks))) ++ranks;
      if (ranks < ranks_) pause_ms(2);
      if (waited > 60'000) ::_exit(0);
    }
    kernel.end = fake_timestamp();
    kernel.name = one.kernel;
    fake_activity(&kernel, sizeof kernel, false);
    fake_deliver();
  }

  fs::path folder_;
  std::string fault_;
  int rank_ = number_of("RANK"), ranks_ = number_of("WORLD_SIZE");
  nvtxDomainHandle_t nccl_ = nullptr;
  std::map<uint64_t, int> numbers_;
  std::vector<Pending> pending_;
  uint32_t flag_ = 0;
  bool is_held_ = false;
};

int job(const Arguments& arguments) {
  if (arguments.size() != 3) return 2;
  Rank(arguments[0], arguments[1], std::atoi(arguments[2].c_str()) == number_of("RANK")).run();
  return 0;
}

constexpr Scenario kScenarios[] = {{"job", job}};

}  // namespace
}  // namespace child

std::span<const child::Scenario> job_scenarios() { return child::kScenarios; }
