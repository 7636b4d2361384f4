// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/next_function.h"

#include <dlfcn.h>

namespace streamscope::collect {

void* next_function(const char* name, void* caller) {
  if (void* function = ::dlsym(RTLD_NEXT, name)) return function;
  Dl_info facts{};
  if (::dladdr(caller, &facts) == 0 || facts.dli_fname == nullptr) return nullptr;
  void* library = ::dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) {
    void* function = ::dlsym(library, name);
    ::dlclose(library);
    if (function != nullptr) return function;
  }
  return ::dlsym(RTLD_NEXT, name);  // leaves its error for dlerror
}

}  // namespace streamscope::collect
