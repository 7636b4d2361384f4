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

/// Writes the page to `output`, or to standard output, if that is no terminal. Prints its size on
/// standard error. Throws Error, also if the page would be larger than `max_mb`.
void write_app(const AppReport& report);

}  // namespace streamscope::cli
