// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A library that links the driver, to be opened in unusual ways.
#include <cuda.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED CUresult plugin_init() { return cuInit(0); }
EXPORTED CUresult plugin_create_stream(CUstream* stream) { return cuStreamCreate(stream, 0); }
EXPORTED CUresult plugin_record(CUevent event, CUstream stream) {
  return cuEventRecord(event, stream);
}
