// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "analysis/detector.h"
#include "command.h"
#include "report/check/check.h"
#include "report/formats/json.h"

namespace streamscope::cli {
namespace {

std::string detectors_json() {
  const auto row = [](const analysis::Detector& detector) {
    return report::Json{{"id", detector.id},
                        {"number", detector.number},
                        {"title", detector.title},
                        {"severity", analysis::to_string(detector.severity)},
                        {"needs", analysis::to_string_of_evidence(detector.needs)}};
  };
  report::Json rows = report::array_of(analysis::detectors(), row);
  for (const analysis::Detector& detector : report::job_detectors()) rows.push_back(row(detector));
  return report::dump({{"schema", 1}, {"detectors", std::move(rows)}});
}

std::string detectors_text() {
  std::string text;
  const auto add = [&](std::span<const analysis::Detector> detectors) {
    for (const analysis::Detector& detector : detectors) {
      text += fmt::format("{}  {:27} {:8} {}\n", detector.number, detector.id,
                          analysis::to_string(detector.severity), detector.title);
    }
  };
  add(analysis::detectors());
  add(report::job_detectors());
  return text;
}

}  // namespace

std::function<int()> define_detectors(CommandLine& line, ProgramArguments&) {
  auto json = std::make_shared<bool>(false);
  line.option("--json", json.get(), "print JSON, with the evidence that each detector needs");
  return [json]() -> int {
    fmt::print("{}", *json ? detectors_json() : detectors_text());
    return kDone;
  };
}

}  // namespace streamscope::cli
