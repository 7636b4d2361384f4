// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Traces with a valid schema and hostile values, through everything that uses traces.

#include "fuzz/scratch_file.h"
#include "fuzz/sqlite_heap.h"
#include "fuzz/trace_mutations.h"
#include "fuzz/use_trace.h"
#include "trace/error.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

using namespace streamscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::filesystem::path kFile = test::scratch("trace");
  const test::TraceInput input(data, size);
  try {
    test::write_mutated(input, kFile);
    test::use_trace(kFile, input.head.use);
  } catch (const Error&) {  // refused
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
  test::TraceInput input(data, size);
  input.mutate(seed);
  return input.store(data, max_size);
}
