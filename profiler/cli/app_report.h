// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `report --format app`: the page of the viewer with a trace inside.
#pragma once

#include <optional>
#include <string>

namespace streamscope::cli {

inline constexpr char kAppFormat[] = "app";
inline constexpr double kDefaultMaxMb = 64;  // mail and chat take files of about this size

struct AppReport {
  std::string file, output;
  std::string range;  ///< embed this part only; empty: all
  double max_mb = kDefaultMaxMb;
  bool quiet = false;
};

/// Writes the page to `output`, or to standard output, if that is no terminal. If it were larger
/// than `max_mb`, it has an overview instead of the trace: the finest one that fits. Prints its
/// size and what it has on standard error. Throws Error, also if there is no such overview.
void write_app(const AppReport& report);

}  // namespace streamscope::cli
