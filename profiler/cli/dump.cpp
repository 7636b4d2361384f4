// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "record/remote.h"

namespace streamscope::cli {

std::function<int()> define_dump(CLI::App& app, ProgramArguments&) {
  auto pid = std::make_shared<int>(0);
  app.add_option("--pid", *pid, "a process that a flight recorder records")
      ->required()
      ->check(CLI::PositiveNumber)
      ->option_text("PID");
  return [pid]() -> int {
    fmt::print("{}\n", record::Recorder::of(*pid).dump().string());
    return kDone;
  };
}

}  // namespace streamscope::cli
