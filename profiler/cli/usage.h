// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The command line as data, from the table of commands and the options that each of them declares:
// what completion scripts and the manual are made from.
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace streamscope::cli {

struct OptionUsage {
  std::vector<std::string> names;  ///< with their dashes, the long ones last; a positional has one
  std::string argument;            ///< "" of a flag
  std::vector<std::string> choices;  ///< the words it takes; empty if it takes any
  std::string help;
  bool positional = false;

  /// The part of the help that fits a menu.
  std::string summary() const;
};

struct CommandUsage {
  const Command* command = nullptr;
  std::vector<OptionUsage> options;
};

/// Of all commands, without options that help does not list.
std::vector<CommandUsage> usage();

}  // namespace streamscope::cli
