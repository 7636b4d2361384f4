// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Every kind of loss with its grade and what a user can do about it.
//
// Whoever writes a trace stores losses as rows of table `loss` by these names; whoever reads one
// shows the advice. ring/losses.h numbers those that a collector reports; a test checks that
// all of them are here.
#pragma once

#include <span>
#include <string_view>

#include "model.h"

namespace streamscope::trace {

struct LossInfo {
  std::string_view name;  ///< kebab-case, stable
  Severity severity;      ///< kInfo and kNotice leave results sound; kDataLoss and kError may not
  std::string_view meaning;  ///< what is missing, one sentence
  std::string_view advice;   ///< what to do about it, one sentence; may be empty
};

/// All kinds.
std::span<const LossInfo> loss_kinds();

/// The kind with this name; an unknown name (a newer trace) yields one graded kDataLoss whose texts
/// say so.
const LossInfo& loss_info(std::string_view name);

}  // namespace streamscope::trace
