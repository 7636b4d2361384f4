// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/sanitizer_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace streamscope::collect {

constinit SanitizerFunctions sanitizer = {};

namespace {

constexpr const char* kFile = "libsanitizer-public.so";
constexpr const char* kKnownVersion = "#define CUDA_VERSION 1300";  // 13.0

// The library has the version of the toolkit whose folder it is in, and no function that says it.
bool is_known_version(const char* library) {
  char path[PATH_MAX];
  if (::realpath(library, path) == nullptr) return false;
  for (int level = 0; level < 2; ++level) {
    char* const slash = std::strrchr(path, '/');
    if (slash == nullptr) return false;
    *slash = '\0';
  }
  std::strncat(path, "/include/cuda.h", sizeof path - std::strlen(path) - 1);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return false;
  bool known = false;
  for (char line[256]; !known && std::fgets(line, sizeof line, file) != nullptr;)
    known = std::strncmp(line, kKnownVersion, std::strlen(kKnownVersion)) == 0;
  std::fclose(file);
  return known;
}

const char* use(const char* path) {
  if (!is_known_version(path))
    return "libsanitizer-public.so is of another version of CUDA than 13.0";
  void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "libsanitizer-public.so cannot be loaded";
#define STREAMSCOPE_FIND(name, ...)                                                     \
  sanitizer.name = reinterpret_cast<decltype(sanitizer.name)>(::dlsym(library, #name)); \
  if (sanitizer.name == nullptr) return "libsanitizer-public.so lacks a function";
  STREAMSCOPE_SANITIZER_FUNCTIONS(STREAMSCOPE_FIND)
#undef STREAMSCOPE_FIND
  return nullptr;
}

}  // namespace

const char* load_sanitizer() {
  const char* const named = ::secure_getenv("STREAMSCOPE_SANITIZER");
  if (named != nullptr && *named != '\0') return use(named);
  const char* const homes[] = {::secure_getenv("CUDA_HOME"), ::secure_getenv("CUDA_PATH"),
                               "/usr/local/cuda"};
  const char* why = "libsanitizer-public.so of the CUDA toolkit was not found";
  for (const char* home : homes) {
    char path[PATH_MAX];
    if (home == nullptr || *home == '\0' ||
        std::snprintf(path, sizeof path, "%s/compute-sanitizer/%s", home, kFile) >=
            static_cast<int>(sizeof path) ||
        ::access(path, R_OK) != 0)
      continue;
    why = use(path);
    if (why == nullptr) return nullptr;
  }
  return why;
}

}  // namespace streamscope::collect
