// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What an import could not convert, counted by kind, process and detail until the end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "trace/loss.h"
#include "trace/write/writer.h"

namespace streamscope::import {

/// Thread-compatible.
class LossLog {
 public:
  /// `kind` is one of trace::loss_kinds(); `detail` is human-readable.
  void add(std::string_view kind, uint64_t count = 1, trace::Id process = trace::kNoId,
           std::string_view detail = "") {
    if (count > 0) counts_[{std::string(kind), process, std::string(detail)}] += count;
  }

  void write(trace::Writer& writer) const {
    for (const auto& [key, count] : counts_) {
      const auto& [kind, process, detail] = key;
      trace::Loss row{.process_id = process,
                      .name_id = writer.intern(kind),
                      .severity = static_cast<trace::Small>(trace::loss_info(kind).severity),
                      .count = static_cast<trace::Int>(count)};
      if (!detail.empty()) row.detail_id = writer.intern(detail);
      writer.append(row);
    }
  }

 private:
  std::map<std::tuple<std::string, trace::Id, std::string>, uint64_t> counts_;
};

}  // namespace streamscope::import
