// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stand-in for libcuda-injection.so, which ncu puts in the driver's place: the driver's names, as
// far as a test needs them, each of which calls the driver.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdint>

#include "fake.h"

#undef cuGetProcAddress

namespace {

template <class Function>
Function* of_driver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

int records = 0;

}  // namespace

FAKE_API CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                      cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
  return of_driver<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2")(symbol, function, version,
                                                                         flags, status);
}
FAKE_API CUresult cuEventRecord(CUevent event, CUstream stream) {
  ++records;
  return of_driver<decltype(cuEventRecord)>("cuEventRecord")(event, stream);
}
/// Calls of its cuEventRecord.
FAKE_API int fake_injected_records() { return records; }
