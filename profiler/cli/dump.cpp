// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "record/run/remote.h"

namespace streamscope::cli {

std::function<int()> define_dump(CommandLine& line, ProgramArguments&) {
  auto pid = std::make_shared<int>(0);
  line.option("--pid", *pid, "a process with a running flight recorder")
      .required()
      .positive()
      .takes("PID");
  return [pid]() -> int {
    fmt::print("{}\n", record::Recorder::of(*pid).dump().string());
    return kDone;
  };
}

}  // namespace streamscope::cli
