// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// JSON values of types that several outputs share, and how outputs print JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trace/model.h"

namespace streamscope::analysis {
struct Counts;
struct HostPace;
}  // namespace streamscope::analysis

namespace streamscope::report {

struct Advice;
struct Coordination;
struct Info;
struct IterationSummary;
struct LossFact;

using Json = nlohmann::ordered_json;  // keeps keys in order of insertion

Json to_json(const analysis::Counts& counts);
Json to_json(const Coordination& coordination);
Json to_json(const std::vector<LossFact>& losses);
Json to_json(const Advice& advice);
/// Null if no iterations were found.
Json to_json(const IterationSummary& summary);
Json to_json(const analysis::HostPace& pace);
/// What is known about the cost of recording; null if it is free.
Json cost_json(const Info& info);

/// Null if the number is not known.
inline Json number(trace::Small value) { return value == trace::kNoSmall ? Json() : Json(value); }

/// An array of what `write` makes of each item.
template <class Items, class Write>
Json array_of(const Items& items, Write write) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(write(item));
  return array;
}

/// Indented, with a line end; replaces invalid UTF-8 instead of throwing.
inline std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace streamscope::report
