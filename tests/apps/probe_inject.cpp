// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A library that answers one question: does the driver load a library whose name was put into
// CUDA_INJECTION64_PATH by the constructor of that same, preloaded, library? If so it appends a
// line to the file named by PROBE_FILE.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

__attribute__((constructor)) void name_myself() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(name_myself), &self))
    setenv("CUDA_INJECTION64_PATH", self.dli_fname, 0);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (const char* path = std::getenv("PROBE_FILE")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fputs("initialized\n", file);
      std::fclose(file);
    }
  }
  return 1;
}
