// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace streamscope::test {

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Process::Process(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                 const std::string& stderr_file, int pass_fd) {
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      unsetenv(entry.c_str());
    } else {
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
    }
  }
  const int out = open(stderr_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (out >= 0) {
    dup2(out, STDERR_FILENO);
    dup2(out, STDOUT_FILENO);
  }
  if (pass_fd >= 0) fcntl(pass_fd, F_SETFD, 0);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

Process::~Process() {
  if (is_running()) {
    kill(pid_, SIGTERM);
    wait();
  }
}

bool Process::is_running() {
  if (pid_ < 0) return false;
  if (waitpid(pid_, &status_, WNOHANG) != pid_) return true;
  pid_ = -1;
  return false;
}

int Process::wait() {
  if (pid_ >= 0) waitpid(pid_, &status_, 0);
  pid_ = -1;
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

int run(const std::vector<std::string>& words, const std::vector<std::string>& environment,
        const std::string& stderr_file) {
  return Process(words, environment, stderr_file).wait();
}

}  // namespace streamscope::test
