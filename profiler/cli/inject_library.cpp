// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "traces.h"

namespace streamscope::cli {
namespace {

constexpr int kDriverTimeoutMs = 10'000;

}  // namespace

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

// A child of ours loads it, so that the driver and what it starts never are in this process.
bool has_driver() {
  int answer[2];
  if (::pipe2(answer, O_CLOEXEC) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    const char found = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr ? 1 : 0;
    (void)!::write(answer[1], &found, sizeof found);
    ::_exit(0);
  }
  ::close(answer[1]);
  char found = 0;
  if (child > 0) {
    pollfd wait{answer[0], POLLIN, 0};
    int ready = 0;
    while ((ready = ::poll(&wait, 1, kDriverTimeoutMs)) < 0 && errno == EINTR) {
    }
    if (ready <= 0 || ::read(answer[0], &found, sizeof found) != sizeof found) found = 0;
    ::kill(child, SIGKILL);  // it may hang in the driver, or in its exit handlers
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(answer[0]);
  return found != 0;
}

}  // namespace streamscope::cli
