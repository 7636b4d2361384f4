// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "id_journal.h"

#include <fcntl.h>

#include <cerrno>
#include <fstream>

namespace streamscope::record {

void IdJournal::open(const std::filesystem::path& file) {
  file_ = file;
  descriptor_ = Descriptor(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!descriptor_) throw file_error(file, "opened", errno);
}

void IdJournal::store() {
  if (!write_all(descriptor_.get(), added_.data(), added_.size() * sizeof(Entry)))
    throw file_error(file_, "written", errno);
  added_.clear();
}

std::vector<IdJournal::Entry> IdJournal::read(const std::filesystem::path& file) {
  std::vector<Entry> entries;
  std::ifstream stream(file, std::ios::binary);
  Entry entry;
  while (stream.read(reinterpret_cast<char*>(&entry), sizeof entry)) entries.push_back(entry);
  return entries;
}

}  // namespace streamscope::record
