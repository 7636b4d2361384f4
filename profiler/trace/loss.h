// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Every kind of loss with its severity, the evidence it affects and what a user can do about it.
//
// A writer of a trace stores losses as rows of table `loss` by these names; a reader shows the
// advice. ring/losses.h numbers those that a collector reports; a test checks that all of them are
// here.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "model.h"

namespace streamscope::trace {

struct Trace;

/// What a trace can be evidence of. A set of them is the sum.
enum Evidence : unsigned {
  kNoEvidence = 0,
  kCallEvidence = 1,         ///< calls with their streams, events and order
  kEventEvidence = 2,        ///< the record that every wait and sync refers to, from the start on
  kTimeEvidence = 4,         ///< when ops ran on the device
  kArgumentEvidence = 8,     ///< the memory that ops access
  kAllocationEvidence = 16,  ///< when memory was allocated and freed
  kHangEvidence = 32,        ///< what waited for what when the program hung
  kAllEvidence = 63,
};

/// The loss of a trace that does not reach the end of its program, although it was finished.
inline constexpr std::string_view kEndedEarly = "recording-ended-early";
/// The loss for the impossible values of a table (checks.h).
inline constexpr std::string_view kDamagedValues = "damaged-values";
/// Variables or processes disagree about a rank.
inline constexpr std::string_view kRankContradiction = "rank-contradiction";
/// True if a trace does not reach the end of its program: it is still being written, its recorder
/// was killed and its rings are gone, or the program outlived its recording. Findings in it are
/// valid; the absence of findings proves nothing.
bool is_unfinished(const Trace& trace);
/// The same without reading all of it. Throws Error.
bool is_unfinished(const std::filesystem::path& trace);
/// The label of such a trace, and what to do about it.
inline constexpr std::string_view kUnfinished =
    "unfinished: the trace does not reach the end of the program; it is still being recorded, or "
    "its recorder ended first.";
inline constexpr std::string_view kAskAgain = "Repeat this once the recording has ended.";

struct LossInfo {
  std::string_view name;  ///< kebab-case, stable
  Severity severity;      ///< kInfo and kNotice leave results valid; kDataLoss and kError may not
  unsigned touches;       ///< set of Evidence that is incomplete where this happened
  std::string_view meaning;  ///< what is missing, one sentence
  std::string_view advice;   ///< what to do about it, one sentence; may be empty
};

/// All kinds.
std::span<const LossInfo> loss_kinds();

/// The kind with this name; an unknown name (a newer trace) yields one of severity kDataLoss whose
/// texts say so.
const LossInfo& loss_info(std::string_view name);

}  // namespace streamscope::trace
