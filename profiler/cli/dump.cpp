// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "record/run/remote.h"

namespace streamscope::cli {

std::function<int()> define_dump(CommandLine& line, ProgramArguments&) {
  auto pid = std::make_shared<int>(0);
  line.option("--pid", pid.get(), "a process with a running flight recorder",
              {.takes = "PID", .required = true, .positive = true});
  return [pid]() -> int {
    fmt::print("{}\n", record::Recorder::of(*pid).dump().string());
    return kDone;
  };
}

}  // namespace streamscope::cli
