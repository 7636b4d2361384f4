// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "error.h"

namespace streamscope {

ScratchFolder::ScratchFolder(const std::string& purpose) {
  const char* const below = std::getenv("TMPDIR");
  std::string name = below != nullptr && *below != '\0' ? below : "/tmp";
  name += "/streamscope-" + purpose + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw Error(name, std::string("no folder can be made there: ") + std::strerror(errno),
                "name a folder for temporary files in TMPDIR", errno);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace streamscope
