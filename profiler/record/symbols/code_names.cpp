// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <span>

#include "record/run/files.h"
#include "symbolize.h"

namespace streamscope::record {
namespace {

// The output of the process that looks up names: for each place, in order, the length of its name
// and the name.
using Length = uint32_t;

[[noreturn]] void answer(std::span<const CodePlace> places, int out, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_DUMPABLE, 0);  // its end leaves no core file
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGPIPE}) ::signal(signal, SIG_DFL);
  // Keeps nothing of the recorder open, especially no locks.
  const int kept = ::dup2(out, 3) < 0 ? out : 3;
  ::syscall(SYS_close_range, static_cast<unsigned>(kept + 1), ~0U, 0U);
  try {
    Symbolizer symbolizer;
    for (const CodePlace& place : places) {
      const std::string name = symbolizer.name(place);
      const auto length = static_cast<Length>(name.size());
      if (!write_all(kept, &length, sizeof length) || !write_all(kept, name.data(), length)) break;
    }
  } catch (...) {  // out of memory; what was written counts
  }
  ::_exit(0);
}

// The names of the first places, as many as could be looked up; nullopt if no process could be
// started.
std::optional<std::vector<std::string>> ask(std::span<const CodePlace> places) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) answer(places, ends[1], parent);
  ::close(ends[1]);
  std::optional<std::vector<std::string>> names;
  if (child > 0) {
    names.emplace();
    Length length = 0;
    while (names->size() < places.size() && read_all(ends[0], &length, sizeof length)) {
      std::string name(length, 0);
      if (!read_all(ends[0], name.data(), length)) break;
      names->push_back(std::move(name));
    }
  }
  ::close(ends[0]);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return names;
}

}  // namespace

std::vector<std::optional<std::string>> CodeNames::look_up(const std::vector<CodePlace>& places) {
  std::map<std::string, struct stat> facts;
  const auto key = [&](const CodePlace& place) {
    const auto [file, is_new] = facts.try_emplace(place.file);
    if (is_new && ::stat(place.file.c_str(), &file->second) != 0) file->second = {};
    return Key{place.file, file->second.st_dev, file->second.st_ino, file->second.st_mtim.tv_sec,
               place.address};
  };
  std::vector<CodePlace> wanted;
  for (const CodePlace& place : places) {
    if (known_.try_emplace(key(place)).second) wanted.push_back(place);
  }
  std::sort(wanted.begin(), wanted.end());  // file after file
  for (std::span<const CodePlace> left = wanted; !left.empty();) {
    const auto names = ask(left);
    if (!names) {  // too many processes, or too few file descriptors
      Symbolizer symbolizer;
      for (const CodePlace& place : left) known_[key(place)] = symbolizer.name(place);
      break;
    }
    for (size_t i = 0; i < names->size(); ++i) known_[key(left[i])] = (*names)[i];
    left = left.subspan(names->size());
    if (left.empty()) break;
    // The rest of the file that ended the process is skipped.
    const std::string& bad = left.front().file;
    const auto next = std::find_if(left.begin(), left.end(),
                                   [&](const CodePlace& place) { return place.file != bad; });
    left = left.subspan(static_cast<size_t>(next - left.begin()));
  }
  std::vector<std::optional<std::string>> result;
  result.reserve(places.size());
  for (const CodePlace& place : places) result.push_back(known_[key(place)]);
  return result;
}

}  // namespace streamscope::record
