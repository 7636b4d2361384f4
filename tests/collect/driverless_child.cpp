// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program on a machine without a driver: it looks for one and must not find any.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

int main() {
  for (const char* name : {"cuLaunchKernel", "cuGetProcAddress_v2", "cuMemAlloc_v2"}) {
    if (dlsym(RTLD_DEFAULT, name) == nullptr && dlerror() != nullptr &&
        dlsym(dlopen(nullptr, RTLD_NOW), name) == nullptr)
      continue;
    std::printf("%s was found\n", name);
    return 1;
  }
  return 0;
}
