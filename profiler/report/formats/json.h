// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// JSON values of the types that several outputs share. Internal to report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/sections/summary.h"

namespace streamscope::report {

using Json = nlohmann::ordered_json;  // keys in the order in which they were written down

Json to_json(const Counts& counts);
Json to_json(const Coordination& coordination);
Json to_json(const std::vector<LossFact>& losses);
Json to_json(const Advice& advice);
/// What is known of the cost of recording; null where it costs nothing.
Json cost_json(const Info& info);

/// Indented, with a line end; text that is no UTF-8 is repaired, never an exception.
inline std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace streamscope::report
