// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs the real program `streamscope` and keeps its output; a scratch folder with a trace in it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/trace_builder.h"

extern char** environ;

namespace streamscope::test {

namespace fs = std::filesystem;

struct Result {
  int code = -1;  ///< 128 + n if ended by a signal
  std::string out, err;

  size_t error_lines() const {
    return static_cast<size_t>(std::count(err.begin(), err.end(), '\n'));
  }
};

inline std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

class CommandLine : public testing::Test {
 protected:
  CommandLine() {
    std::string name = (fs::path(testing::TempDir()) / "streamscope-cli-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CommandLine() override { fs::remove_all(folder_); }

  /// Runs it in the scratch folder. `environment` holds NAME=VALUE entries that are added.
  Result streamscope(const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment = {}) {
    const fs::path out = folder_ / ".out", err = folder_ / ".err";
    std::vector<std::string> words{STREAMSCOPE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv, envp;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<std::string> variables = environment;
    for (std::string& entry : variables) envp.push_back(entry.data());
    for (char** entry = environ; *entry; ++entry) envp.push_back(*entry);
    envp.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder_.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    Result result;
    const int failed =
        posix_spawn(&child, STREAMSCOPE_PROGRAM, &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return result;
    int status = 0;
    waitpid(child, &status, 0);
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = content(out);
    result.err = content(err);
    return result;
  }

  /// A small finished trace: a copy, a kernel that waits for it, a device synchronization.
  void write_trace(const std::string& name = "t.sqlite") {
    TraceBuilder builder;
    builder.stream("copies").memcpy(kHtoD, 100, 200'000).record("loaded");
    builder.stream("math").wait("loaded").kernel("gemm", 201'000, 350'000);
    builder.range("step", 0, 400'000).synchronize_device(40, 360'000);
    builder.write(folder_ / name);
  }

  fs::path folder_;
};

}  // namespace streamscope::test
