// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "traces.h"

namespace streamscope::cli {

std::filesystem::path inject_library() {
  std::error_code error;
  const auto usable = [&](const std::filesystem::path& file) {
    return std::filesystem::is_regular_file(file, error);
  };
  if (const char* named = std::getenv("STREAMSCOPE_INJECT"); named && *named) {
    return usable(named) ? std::filesystem::absolute(named, error) : std::filesystem::path();
  }
  // The build folder uses lib/, an installation CMAKE_INSTALL_LIBDIR.
  for (const char* folder : {"../lib", "../" STREAMSCOPE_LIBDIR, "../lib64"}) {
    const std::filesystem::path file = program_folder() / folder / "libstreamscope_inject.so";
    if (!usable(file)) continue;
    const std::filesystem::path direct = std::filesystem::canonical(file, error);
    return error ? file : direct;
  }
  return {};
}

std::filesystem::path calls_library() {
  const std::filesystem::path library = inject_library();
  if (library.empty()) return {};
  std::error_code error;
  const std::filesystem::path beside =
      std::filesystem::path(library).replace_filename("libstreamscope_calls.so");
  return std::filesystem::is_regular_file(beside, error) ? beside : std::filesystem::path();
}

bool has_driver() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  ::dlclose(driver);
  return true;
}

}  // namespace streamscope::cli
