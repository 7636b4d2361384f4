// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Random programs of streams, events, synchronizations, copies, kernels and stream-ordered memory,
// each explored in its orders and run once on its own simulated device, which is recorded.
//
//   explored COUNT [FIRST]
//
// Prints a line per program: its number, the context id of its device in traces, and what
// exploration finds ("clean" if nothing).
#include <coord/coord.h>
#include <coord/explore.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

enum class Act {
  kKernel,
  kMemset,
  kUpload,
  kDownload,
  kCopy,
  kRecord,
  kWait,
  kSynchronizeStream,
  kSynchronizeDevice,
  kHostRead,
  kHostWrite,
  kAllocate,
  kFree,
  kSignal,  // a value written to memory on one stream, waited for on another
};

constexpr std::size_t kFloats = 8, kBuffers = 3, kStreams = 4, kEvents = 3;

// A piece of a buffer.
struct Piece {
  std::size_t buffer, first, count;
};

struct Step {
  Act act;
  std::size_t stream, other;  // the other stream, or the event
  Piece from, to;
};

struct Program {
  std::vector<Step> steps;
  std::vector<bool> blocking;  // per stream
  bool legacy;                 // the last stream is the legacy stream
};

Program make(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Program program;
  const std::size_t streams = 2 + pick(kStreams - 1);
  for (std::size_t i = 0; i < streams; ++i) program.blocking.push_back(pick(2) == 0);
  program.legacy = pick(4) == 0;
  // Programs differ in how much they order.
  constexpr Act kWork[] = {Act::kKernel, Act::kMemset, Act::kUpload, Act::kDownload, Act::kCopy};
  constexpr Act kOrder[] = {Act::kRecord,
                            Act::kWait,
                            Act::kRecord,
                            Act::kWait,
                            Act::kWait,
                            Act::kSynchronizeStream,
                            Act::kSynchronizeDevice};
  constexpr Act kHost[] = {Act::kHostRead, Act::kHostWrite};
  constexpr Act kMemory[] = {Act::kAllocate, Act::kFree};
  const std::size_t order = 1 + pick(4), host = pick(2), memory = pick(2), signals = pick(4) == 0;
  const std::size_t count = 4 + pick(8);
  const auto piece = [&] {
    const std::size_t first = pick(2) * kFloats / 2;
    return Piece{pick(kBuffers), first, first == 0 && pick(2) == 0 ? kFloats : kFloats / 2};
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t choice = pick(3 + order + host + memory + signals);
    const Act act = choice < 3                           ? kWork[pick(std::size(kWork))]
                    : choice < 3 + order                 ? kOrder[pick(std::size(kOrder))]
                    : choice < 3 + order + host          ? kHost[pick(std::size(kHost))]
                    : choice < 3 + order + host + memory ? kMemory[pick(std::size(kMemory))]
                                                         : Act::kSignal;
    Step step{act, pick(streams), 0, piece(), piece()};
    step.other = act == Act::kSignal ? pick(streams) : pick(kEvents);
    step.to.count = step.from.count = std::min(step.to.count, step.from.count);
    program.steps.push_back(step);
  }
  return program;
}

using HostAccess = std::function<void(const void*, std::size_t, bool)>;

void run(const Program& program, const coord::Device& device, const HostAccess& host_access) {
  const auto host = device.allocate_host<float>(kFloats);
  const auto flags = device.allocate_host<std::uint64_t>(program.steps.size());
  std::vector<coord::DeviceBuffer<float>> buffers;
  for (std::size_t i = 0; i < kBuffers; ++i) buffers.push_back(device.allocate<float>(kFloats));
  std::vector<coord::Stream> own;
  std::vector<coord::StreamRef> streams;
  for (const bool blocking : program.blocking) {
    own.push_back(device.create_stream({.non_blocking = !blocking}));
  }
  for (const coord::Stream& stream : own) streams.push_back(stream);
  if (program.legacy) streams.back() = device.legacy_stream();
  std::vector<coord::Event> events;
  for (std::size_t i = 0; i < kEvents; ++i) events.push_back(device.create_event());

  // Allocations on the legacy stream are barriers on the simulated device, but not on a GPU.
  const auto for_memory = [&](std::size_t stream) {
    return program.legacy && stream + 1 == streams.size() ? streams[0] : streams[stream];
  };
  float* pool = nullptr;  // stream-ordered memory that exists now, by order of calls
  bool ever_allocated = false;
  const auto at = [&](const Piece& piece) {
    // Buffer 0 is the stream-ordered one while there is one.
    float* base = piece.buffer == 0 && pool != nullptr ? pool : buffers[piece.buffer].data();
    return base + piece.first;
  };
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const coord::StreamRef stream = streams[step.stream];
    const std::size_t bytes = step.from.count * sizeof(float);
    switch (step.act) {
      case Act::kKernel:
        stream.launch({.name = "k",
                       .duration = std::chrono::microseconds(5),
                       .transform = {at(step.from), at(step.to), step.from.count, 1.0f, 1.0f}});
        break;
      case Act::kMemset:
        stream.memset(at(step.to), 0, bytes);
        break;
      case Act::kUpload:
        stream.copy_to_device(at(step.to), host.data() + step.from.first, bytes);
        break;
      case Act::kDownload:
        stream.copy_to_host(host.data() + step.to.first, at(step.from), bytes);
        break;
      case Act::kCopy:
        if (at(step.from) != at(step.to)) stream.copy(at(step.to), at(step.from), bytes);
        break;
      case Act::kRecord:
        stream.record(events[step.other]);
        break;
      case Act::kWait:
        stream.wait(events[step.other]);
        break;
      case Act::kSynchronizeStream:
        stream.synchronize();
        break;
      case Act::kSynchronizeDevice:
        device.synchronize();
        break;
      case Act::kHostRead:
      case Act::kHostWrite:
        host_access(host.data() + step.to.first, bytes, step.act == Act::kHostWrite);
        break;
      case Act::kAllocate:
        if (!ever_allocated) {
          pool =
              static_cast<float*>(for_memory(step.stream).allocate_async(kFloats * sizeof(float)));
          ever_allocated = true;
        }
        break;
      case Act::kFree:
        if (pool != nullptr) {
          for_memory(step.stream).free_async(pool);
          pool = nullptr;
        }
        break;
      case Act::kSignal:
        if (step.stream != step.other) {
          stream.write_value(&flags[i], 1);
          streams[step.other].wait_value(&flags[i], 1);
        }
        break;
    }
  }
  device.synchronize();
  if (pool != nullptr) {
    streams[0].free_async(pool);
    device.synchronize();
  }
}

std::string explored(const Program& program) {
  coord::sim::ExploreOptions options;
  // Which accesses are ordered hardly depends on the run, so a few runs suffice.
  options.max_runs = 40;
  options.samples = 10;
  const auto report = coord::sim::explore(
      [&](coord::sim::Run& one) {
        run(program, one.device(), [&](const void* address, std::size_t bytes, bool writes) {
          writes ? one.writes(address, bytes) : one.reads(address, bytes);
        });
      },
      options);
  std::string text = report.clean() ? "clean" : report.findings[0].text;
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t count = 0, first = 0;
  const auto number = [&](int index, std::uint32_t& value) {
    const char* end = argv[index] + std::strlen(argv[index]);
    return std::from_chars(argv[index], end, value).ptr == end;
  };
  if (argc < 2 || argc > 3 || !number(1, count) || (argc == 3 && !number(2, first))) return 2;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const Program program = make(seed);
    const std::string verdict = explored(program);
    const coord::Device device = coord::Device::open("sim");
    try {
      run(program, device, [&](const void* address, std::size_t bytes, bool writes) {
        device.host_access({address, bytes}, writes ? coord::Access::kWrite : coord::Access::kRead);
      });
    } catch (const coord::Error&) {
      // The device has detected the mistake, and refuses the rest.
    }
    std::printf("%u %u %s\n", seed, device.properties().context, verdict.c_str());
  }
}
