// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that is compiled with a sanitizer: `PROGRAM [overflow|race]`.
#include <cuda.h>

#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

void record() {
  cuEventRecord(reinterpret_cast<CUevent>(uintptr_t{0xe00e}),
                reinterpret_cast<CUstream>(uintptr_t{0xa00a}));
}

int raced = 0;

}  // namespace

int main(int count, char** arguments) {
  const std::string_view fault = count > 1 ? arguments[1] : "";
  cuInit(0);
  record();
  std::thread thread([&] {
    for (int i = 0; i < 1000; ++i) record();
    if (fault == "race") ++raced;
  });
  if (fault == "race") ++raced;
  thread.join();
  volatile size_t size = 10;
  volatile char* bytes = static_cast<char*>(std::malloc(size));
  if (fault == "overflow") bytes[size] = 1;
  std::free(const_cast<char*>(bytes));
  return 0;
}
