// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/scratch_file.h"
#include "fuzz/sqlite_heap.h"
#include "trace/error.h"
#include "trace/read/reader.h"

using namespace streamscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const trace::Trace trace = trace::read(test::write_scratch(data, size));
    (void)trace.end_ns();
  } catch (const Error&) {  // an unusable file
  }
  return 0;
}
