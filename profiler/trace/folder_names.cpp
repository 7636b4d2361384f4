// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "folder_names.h"

#include <dirent.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "error.h"

namespace streamscope::trace {
namespace {

// 0, or the errno of the failure.
int read_names(const std::filesystem::path& folder, std::vector<std::string>* names) {
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
  if (opened == nullptr) return errno == ENOENT ? 0 : errno;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr) return errno;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names->emplace_back(name);
  }
}

}  // namespace

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (const int error = read_names(folder, &names))
    throw Error(folder, std::string("cannot be read: ") + std::strerror(error),
                "check its permissions and the limit on open files (ulimit -n)", error);
  return names;
}

std::optional<std::vector<std::string>> try_names_in(const std::filesystem::path& folder) noexcept {
  try {
    std::vector<std::string> names;
    if (read_names(folder, &names) == 0) return names;
  } catch (const std::bad_alloc&) {
  }
  return std::nullopt;
}

}  // namespace streamscope::trace
