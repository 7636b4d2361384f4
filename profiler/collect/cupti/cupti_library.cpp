// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/cupti/cupti_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace streamscope::collect {

constinit CuptiFunctions cupti = {};

namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kFolders[] = {"lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib",
                                    "lib"};

bool look_up(void* library) {
  auto find = [library](const char* name) { return ::dlsym(library, name); };
  bool complete = true;
#define STREAMSCOPE_FIND(name)                                      \
  cupti.name = reinterpret_cast<decltype(cupti.name)>(find(#name)); \
  complete = complete && cupti.name != nullptr;
  STREAMSCOPE_CUPTI_REQUIRED(STREAMSCOPE_FIND)
#undef STREAMSCOPE_FIND
#define STREAMSCOPE_FIND(name, ...) \
  cupti.name = reinterpret_cast<decltype(cupti.name)>(find(#name));
  STREAMSCOPE_CUPTI_OPTIONAL(STREAMSCOPE_FIND)
#undef STREAMSCOPE_FIND
  cupti.cuptiSubscribe_v2 = find("cuptiSubscribe_v2");
  return complete && cupti.cuptiGetVersion(&cupti.version) == CUPTI_SUCCESS;
}

bool use(void* library) { return library != nullptr && look_up(library); }

bool use_file(const char* path) { return use(::dlopen(path, RTLD_NOW | RTLD_LOCAL)); }

struct Folder {
  char path[PATH_MAX];
};

// Folder of the CUDA runtime that the process has loaded, if it is a shared library.
int note_runtime_folder(dl_phdr_info* object, size_t, void* pointer) {
  auto* folder = static_cast<Folder*>(pointer);
  const char* file = object->dlpi_name != nullptr ? std::strrchr(object->dlpi_name, '/') : nullptr;
  if (file == nullptr || std::strncmp(file + 1, "libcudart.so", 12) != 0) return 0;
  const int length = static_cast<int>(file - object->dlpi_name);
  return std::snprintf(folder->path, sizeof folder->path, "%.*s", length, object->dlpi_name) <
         static_cast<int>(sizeof folder->path);
}

bool use_in_folder(const char* folder) {
  char path[PATH_MAX];
  for (const char* name : kNames) {
    if (std::snprintf(path, sizeof path, "%s/%s", folder, name) < static_cast<int>(sizeof path) &&
        use_file(path))
      return true;
  }
  return false;
}

}  // namespace

bool load_cupti(const char** cause) {
  // Two copies in one process refuse each other: the program's own copy comes first.
  for (const char* name : kNames) {
    if (use(::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD))) return true;
  }
  if (const char* named = ::secure_getenv("STREAMSCOPE_CUPTI");
      named != nullptr && *named != '\0') {
    if (use_file(named)) return true;
    *cause = "the libcupti named in STREAMSCOPE_CUPTI cannot be loaded";
    return false;
  }
  Folder folder{};
  ::dl_iterate_phdr(note_runtime_folder, &folder);
  if (folder.path[0] != '\0') {
    if (use_in_folder(folder.path)) return true;
    // Python packages put each library into a folder of its own: .../cuda_runtime/lib next to
    // .../cuda_cupti/lib.
    char sibling[sizeof folder.path + 32];
    std::snprintf(sibling, sizeof sibling, "%s/../../cuda_cupti/lib", folder.path);
    if (use_in_folder(sibling)) return true;
  }
  for (const char* name : kNames) {
    if (use_file(name)) return true;
  }
  const char* homes[] = {::secure_getenv("CUDA_HOME"), ::secure_getenv("CUDA_PATH"),
                         "/usr/local/cuda"};
  for (const char* home : homes) {
    if (home == nullptr || *home == '\0') continue;
    for (const char* sub : kFolders) {
      char path[PATH_MAX];
      if (std::snprintf(path, sizeof path, "%s/%s", home, sub) < static_cast<int>(sizeof path) &&
          use_in_folder(path))
        return true;
    }
  }
  *cause = "libcupti.so.13 or .12 was not found";
  return false;
}

CUptiResult subscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, char* other,
                      size_t other_size) {
  other[0] = '\0';
  if (cupti.cuptiSubscribe_v2 != nullptr) {
    // CUpti_SubscriberParams as of 13.0.
    struct Params {
      size_t size;
      const char* name;
      char* other_name;
      size_t other_size;
    } params = {sizeof(Params), "StreamScope", other, other_size};
    auto function = reinterpret_cast<CUptiResult (*)(CUpti_SubscriberHandle*, CUpti_CallbackFunc,
                                                     void*, Params*)>(cupti.cuptiSubscribe_v2);
    CUptiResult result = function(subscriber, callback, nullptr, &params);
    other[other_size - 1] = '\0';
    return result;
  }
  return cupti.cuptiSubscribe(subscriber, callback, nullptr);
}

}  // namespace streamscope::collect
