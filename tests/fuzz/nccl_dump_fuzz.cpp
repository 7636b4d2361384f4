// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/nccl_dumps.h"
#include "job/job_hang.h"
#include "trace/error.h"

using namespace streamscope;

// As a dump of PyTorch, pickle or JSON, and as an answer of NCCL's RAS.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const job::RankHang rank = job::read_flight_dump(bytes, 1, "input");
    for (const job::LastCall& call : rank.calls)
      if (call.sequence > call.issued) __builtin_trap();
  } catch (const Error&) {
  }
  try {
    (void)job::explain(job::read_ras_report(bytes, "input").ranks);
  } catch (const Error&) {
  }
  return 0;
}
