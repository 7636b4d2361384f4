// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lists in sentences.
#pragma once

#include <string>
#include <vector>

namespace streamscope {

/// "a, b and c"
inline std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

/// Those that wait in a circle: "a and b wait for each other", "a waits for itself".
inline std::string wait_for_each_other(const std::vector<std::string>& parties) {
  return listed(parties) + (parties.size() == 1 ? " waits for itself" : " wait for each other");
}

}  // namespace streamscope
