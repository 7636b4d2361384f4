// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/clock_offsets.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "trace/error.h"

namespace streamscope::job {
namespace {

using nlohmann::json;

// Differences of such times do not overflow.
constexpr double kMostOffsetNs = 0x1p61;

std::optional<ClockOffset> offset_in(const std::string& line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto value = object.find(key);
    return value != object.end() && value->is_string() ? value->get<std::string>() : "";
  };
  bool valid = true;
  const auto time = [&](const char* key) {
    const auto value = object.find(key);
    valid = valid && value != object.end() && value->is_number_integer() &&
            std::abs(value->get<double>()) < kMostOffsetNs;
    return valid ? value->get<Ns>() : 0;
  };
  ClockOffset offset{.reference = text("reference"),
                     .host = text("host"),
                     .at_ns = time("at_ns"),
                     .lower_ns = time("lower_ns"),
                     .upper_ns = time("upper_ns")};
  if (!valid || offset.reference.empty() || offset.host.empty() ||
      offset.lower_ns > offset.upper_ns)
    return std::nullopt;
  return offset;
}

}  // namespace

std::vector<ClockOffset> read_clock_offsets(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "clock-offsets.jsonl";
  std::vector<ClockOffset> offsets;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return offsets;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (const auto offset = offset_in(line)) offsets.push_back(*offset);
  }
  if (lines.bad() || !lines.eof()) {
    throw Error(file, "cannot be read",
                "make it readable, or remove it: then clocks are known from collectives alone");
  }
  return offsets;
}

}  // namespace streamscope::job
