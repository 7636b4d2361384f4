// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "traces.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "record/session.h"
#include "terminal.h"
#include "trace/error.h"

namespace streamscope::cli {

namespace fs = std::filesystem;

void recover(const fs::path& file) {
  // A limit on the size of files (ulimit -f) is to be told as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  if (record::recover(file)) {
    fmt::print(stderr, "streamscope: {}: its recorder had been killed; added what it left behind\n",
               file.string());
  }
}

trace::Trace load(const fs::path& file, bool quiet) {
  recover(file);
  Progress progress("reading " + file.filename().string(), quiet);
  return trace::read(file, {.progress = [&](double fraction) {
                       progress.update(fraction);
                       return true;
                     }});
}

void write_output(std::string_view text, const fs::path& file, const fs::path& input) {
  if (file.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::error_code ignored;
  if (fs::equivalent(file, input, ignored)) {
    throw Error(file.string(), "is the trace itself", "name another output file");
  }
  char magic[16] = {};
  if (std::ifstream old(file, std::ios::binary);
      old.read(magic, sizeof magic) && std::string_view(magic, 15) == "SQLite format 3") {
    throw Error(file.string(), "is a database and would be overwritten",
                "name another output file");
  }
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw Error(file.string(), "cannot be written", "check folder, permissions and free space");
}

fs::path program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error("/proc/self/exe", error.message(), "mount /proc");
  return program.parent_path();
}

}  // namespace streamscope::cli
