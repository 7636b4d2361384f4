// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a process that was killed left in its ring, read as recovery does: the input is the records,
// behind a header that is whole unless the first byte says that the next ones damage it.

#include <cstring>

#include "fuzz/scratch_file.h"
#include "record/drain.h"
#include "trace/error.h"

using namespace streamscope;

namespace {

constexpr size_t kDamageBytes = 16;

std::string ring_file(const uint8_t* data, size_t size) {
  constexpr uint64_t kCapacity = 1024;
  const bool damaged = size > kDamageBytes && (data[0] & 1) != 0;
  const size_t taken = damaged ? 1 + kDamageBytes : std::min<size_t>(size, 1);
  const uint8_t* records = data + taken;
  const size_t bytes = std::min(size - taken, kCapacity * sizeof(ring::Record));

  std::string file(ring::kRingHeaderBytes + kCapacity * sizeof(ring::Record), '\0');
  auto* header = new (file.data()) ring::RingHeader{};
  std::memcpy(header->magic, ring::kRingMagic, sizeof header->magic);
  header->layout_version = ring::kLayoutVersion;
  header->pid = 1 << 30;  // beyond what the system gives to anybody
  header->process_start = 1;
  header->capacity = kCapacity;
  header->clock = ring::ClockKind::kMonotonic;
  header->anchor = ring::read_anchor(ring::ClockKind::kMonotonic);
  header->head = bytes / sizeof(ring::Record);
  header->tid = 7;
  header->state = ring::RingState::kClosed;
  if (damaged) {  // two bytes at each of four places
    for (size_t i = 0; i < kDamageBytes; i += 4) {
      const size_t at = (data[1 + i] | data[2 + i] << 8) % (sizeof(ring::RingHeader) - 2);
      std::memcpy(file.data() + at, data + 3 + i, 2);
    }
  }
  std::memcpy(file.data() + ring::kRingHeaderBytes, records, bytes);
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::filesystem::path kFolder = test::scratch("rings");
  std::filesystem::remove_all(kFolder);
  std::filesystem::create_directories(kFolder);
  const std::string file = ring_file(data, size);
  std::ofstream(kFolder / "1073741824-1-0.ring", std::ios::binary) << file;
  try {
    record::Drain drain(
        kFolder,
        trace::Writer::create(test::scratch("trace"), {.overwrite = true, .read_meanwhile = false}),
        {}, ring::read_anchor(ring::ClockKind::kMonotonic));
    drain.finish();
  } catch (const Error&) {  // an unusable file
  }
  return 0;
}
