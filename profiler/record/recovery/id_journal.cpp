// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "id_journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "trace/error.h"

namespace streamscope::record {

IdJournal::~IdJournal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void IdJournal::open(const std::filesystem::path& file) {
  file_ = file;
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor_ < 0)
    throw Error(file, std::string("cannot be opened: ") + std::strerror(errno), remedy_for(errno),
                errno);
}

void IdJournal::add(Kind kind, trace::Id process, uint64_t hash, trace::Id id) {
  if (descriptor_ >= 0) added_.push_back({kind, process, hash, id});
}

void IdJournal::store() {
  const char* at = reinterpret_cast<const char*>(added_.data());
  size_t left = added_.size() * sizeof(Entry);
  while (left > 0) {
    const ssize_t written = ::write(descriptor_, at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(file_, std::string("cannot be written: ") + std::strerror(errno),
                  remedy_for(errno), errno);
    at += written;
    left -= static_cast<size_t>(written);
  }
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
