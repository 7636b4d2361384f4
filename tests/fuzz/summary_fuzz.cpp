// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "fuzz/scratch_file.h"
#include "job/files/summary_file.h"
#include "trace/error.h"
#include "vocabulary/fnv1a.h"

using namespace streamscope;

// The input is what follows the header, so that the checksum does not keep it out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  std::string bytes = job::pack({}).substr(0, 8);  // magic and version
  const uint64_t checksum = fnv1a(message);
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum).append(message);
  try {
    const job::RankSummary summary = job::unpack(bytes, "input");
    if (job::unpack(job::pack(summary), "again") != summary) __builtin_trap();
    for (const job::RankIteration& iteration : summary.iterations) {
      for (const job::Collective& one : iteration.collectives)
        if (name_of(summary, one).empty()) __builtin_trap();
    }
  } catch (const Error&) {  // damaged
  }
  return 0;
}
