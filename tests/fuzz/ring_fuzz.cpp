// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a killed process left in its rings, read as recovery reads it. An input is a plan followed
// by records; incomplete records are ignored. Whatever the rings contain, the trace made from them
// can be read again.

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "fuzz/scratch_file.h"
#include "fuzz/sqlite_heap.h"
#include "fuzz/use_trace.h"
#include "record/drain/drain.h"
#include "ring/calls.h"
#include "ring/process.h"
#include "trace/error.h"
#include "trace/read/reader.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

using namespace streamscope;
using ring::Record;

namespace {

constexpr uint64_t kCapacity = 1024;
constexpr uint64_t kStart = 1'000'000'000;  // the instant at which the program began
constexpr size_t kPatches = 12;

// Position of the first record in an input.
struct Plan {
  enum Flags : uint8_t {
    kTwoRings = 1,    // the second half of the records is another thread's
    kTwoWriters = 2,  // one reads half of each ring and is killed, another one goes on
    kLive = 4,        // no ring was closed
    kDamaged = 8,     // `patches` are put into the header of the first ring
  };
  struct Patch {
    uint16_t at, value;
  };
  uint8_t flags;
  uint8_t dropped;
  uint16_t torn_bytes;  // cut off the end of the last ring
  uint32_t use;         // what is made of the trace
  uint32_t reserved[2];
  Patch patches[kPatches];
};
static_assert(sizeof(Plan) == sizeof(Record));

struct Ring {
  std::filesystem::path file;
  std::span<const Record> records;
  size_t cut_bytes = 0;
};

ring::ClockAnchor first_anchor() { return {kStart, kStart, kStart}; }

// Encodes and decodes an input.
struct Input {
  Plan plan{};
  std::vector<Record> records;

  Input(const uint8_t* data, size_t size)
      : records(size < sizeof plan ? 0 : size / sizeof(Record) - 1) {
    std::memcpy(&plan, data, std::min(size, sizeof plan));
    if (!records.empty())
      std::memcpy(records.data(), data + sizeof plan, records.size() * sizeof(Record));
  }
  size_t store(uint8_t* data, size_t max_size) {
    records.resize(std::min(records.size(), max_size / sizeof(Record) - 1));
    std::memcpy(data, &plan, sizeof plan);
    if (!records.empty())
      std::memcpy(data + sizeof plan, records.data(), records.size() * sizeof(Record));
    return sizeof plan + records.size() * sizeof(Record);
  }
};

// With only some of its records pushed so far.
void write_ring(const Ring& ring, const Plan& plan, uint32_t index, uint32_t pid, uint64_t start,
                size_t pushed) {
  std::string bytes(ring::kRingHeaderBytes + kCapacity * sizeof(Record), '\0');
  auto* header = new (bytes.data()) ring::RingHeader{};
  std::memcpy(header->magic, ring::kRingMagic, sizeof header->magic);
  header->layout_version = ring::kLayoutVersion;
  header->pid = pid;
  header->process_start = start;
  header->capacity = header->first_size = kCapacity;
  header->clock = ring::ClockKind::kMonotonic;
  header->index = index;
  header->anchor = first_anchor();
  header->head = pushed;
  header->dropped = plan.dropped;
  header->tid = 7 + index;
  header->state =
      (plan.flags & Plan::kLive) != 0 ? ring::RingState::kLive : ring::RingState::kClosed;
  if ((plan.flags & Plan::kDamaged) != 0 && index == 0) {
    for (const Plan::Patch& patch : plan.patches)
      std::memcpy(bytes.data() + patch.at % (sizeof(ring::RingHeader) - sizeof patch.value),
                  &patch.value, sizeof patch.value);
  }
  const std::string_view records(reinterpret_cast<const char*>(ring.records.data()),
                                 ring.records.size_bytes());
  bytes.replace(ring::kRingHeaderBytes, records.size(), records);
  bytes.resize(bytes.size() - ring.cut_bytes);
  std::ofstream(ring.file, std::ios::binary) << bytes;
}

void push_the_rest(const Ring& ring) {
  std::fstream file(ring.file, std::ios::binary | std::ios::in | std::ios::out);
  const uint64_t head = ring.records.size();
  file.seekp(offsetof(ring::RingHeader, head));
  file.write(reinterpret_cast<const char*>(&head), sizeof head);
}

void recover(const std::filesystem::path& folder, const std::filesystem::path& trace,
             std::span<const Ring> rings, const Plan& plan) {
  const bool two_writers = (plan.flags & Plan::kTwoWriters) != 0;
  // The first writer would be done with a process that has ended.
  const auto pid = two_writers ? static_cast<uint32_t>(getpid()) : uint32_t{1} << 30;
  const uint64_t start = two_writers ? ring::process_start(pid) : 1;
  const std::string prefix = std::to_string(pid) + "-" + std::to_string(start) + "-";
  std::vector<Ring> named(rings.begin(), rings.end());
  for (uint32_t i = 0; i < named.size(); ++i) {
    named[i].file = folder / (prefix + std::to_string(i) + ".ring");
    const size_t all = named[i].records.size();
    write_ring(named[i], plan, i, pid, start, two_writers ? all / 2 : all);
  }
  const record::Drain::Options options{.trace_start_ns = kStart};
  auto writer = trace::Writer::create(trace, {.overwrite = true, .read_meanwhile = two_writers});
  if (!two_writers) {
    record::Drain(folder, std::move(writer), options, first_anchor()).finish();
    return;
  }
  {
    record::Drain killed(folder, std::move(writer), options, first_anchor());
    killed.cycle();
    killed.flush();
  }
  for (const Ring& ring : named) push_the_rest(ring);
  const trace::Trace stored = trace::read(trace);
  record::Drain(folder, trace::Writer::resume(trace), options, stored).finish();
}

// Makes records from random numbers: few values, so that records refer to the same things.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  uint64_t below(uint64_t end) { return random_() % end; }
  uint64_t number() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
        return ring::kNone32;
      case 2:
        return ~uint64_t{0};
      case 3:
        return random_();
      case 4:
        return kStart + 1000 * below(64);  // an instant
      default:
        return below(6);  // a handle, an id, a hash, a count
    }
  }

 private:
  std::minstd_rand0 random_;
};

class Records {
 public:
  Records(std::vector<Record>& all, Dice& dice) : all_(all), dice_(dice) {}

  void mutate() {
    switch (dice_.below(all_.empty() ? 1 : 6)) {
      case 0:
        return insert(made());
      case 1:
        return insert(any());
      case 2: {
        const size_t at = dice_.below(all_.size());
        all_.erase(all_.begin() + static_cast<ptrdiff_t>(at));
        return;
      }
      case 3:
        return std::swap(any(), any());
      default:
        return set_field(any());
    }
  }

 private:
  Record& any() { return all_[dice_.below(all_.size())]; }
  void insert(Record record) {
    all_.insert(all_.begin() + static_cast<ptrdiff_t>(dice_.below(all_.size() + 1)), record);
  }

  Record made() {
    constexpr auto kKinds = static_cast<uint64_t>(ring::RecordKind::kWaitLinks);
    Record record{};
    record.head.kind = static_cast<ring::RecordKind>(1 + dice_.below(kKinds));
    if (dice_.below(3) == 0) record.head.kind = ring::RecordKind::kCall;
    record.head.flags = static_cast<uint8_t>(dice_.below(4) == 0 ? dice_.below(32) : 0);
    record.head.small = static_cast<uint16_t>(record.head.kind == ring::RecordKind::kCall
                                                  ? dice_.below(ring::call_count())
                                                  : dice_.below(48));
    for (uint64_t fields = dice_.below(12); fields > 0; --fields) set_field(record);
    return record;
  }

  // Four or eight bytes, at times those of another record.
  void set_field(Record& record) {
    const size_t width = dice_.below(2) == 0 ? 4 : 8;
    const size_t at = width * dice_.below(sizeof(Record) / width);
    uint64_t value = dice_.number();
    if (dice_.below(3) == 0 && !all_.empty())
      std::memcpy(&value, reinterpret_cast<const char*>(&any()) + at, width);
    if (at == 0) return;  // unchanged
    std::memcpy(reinterpret_cast<char*>(&record) + at, &value, width);
  }

  std::vector<Record>& all_;
  Dice& dice_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::filesystem::path kFolder = test::scratch("rings");
  static const std::filesystem::path kTrace = test::scratch("trace");
  const Input input(data, size);
  const Plan& plan = input.plan;
  const std::span all(input.records);
  const size_t ring_count = (plan.flags & Plan::kTwoRings) != 0 ? 2 : 1;
  const size_t first = std::min<size_t>(all.size() / ring_count, kCapacity);
  std::vector<Ring> rings = {{.records = all.first(first)}};
  if (ring_count == 2) {
    const size_t rest = std::min<size_t>(all.size() - first, kCapacity);
    rings.push_back({.records = all.subspan(first, rest)});
  }
  if ((plan.flags & Plan::kDamaged) != 0) rings.back().cut_bytes = plan.torn_bytes;

  std::filesystem::remove_all(kFolder);
  std::filesystem::create_directories(kFolder);
  recover(kFolder, kTrace, rings, plan);
  const trace::Trace trace = trace::read(kTrace);
  try {
    test::use_trace(trace, plan.use);
  } catch (const Error&) {  // useless for that
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  Dice dice(seed);
  if (dice.below(16) == 0) return LLVMFuzzerMutate(data, size, max_size);
  Input input(data, size);
  if (dice.below(8) == 0) {
    LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(&input.plan), sizeof input.plan, sizeof input.plan);
  } else {
    for (uint64_t changes = 1 + dice.below(8); changes > 0; --changes)
      Records(input.records, dice).mutate();
  }
  return input.store(data, max_size);
}
