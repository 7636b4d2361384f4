// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The level-of-detail pyramid: what every stream did per time cell, for a viewer that shows more
// ops than the screen has pixels.
//
// All cells of a level are equally wide and aligned to multiples of their width, so that levels
// nest and the picture does not flicker while panning. A cell contains the ops that start in it;
// empty cells are omitted. Four cells form one of the next coarser level.
#pragma once

#include <vector>

#include "analysis/stream_ops.h"

namespace streamscope::analysis {

/// The maximum number of rows of the pyramid, approximately, for any trace length: a few dozen MiB.
inline constexpr size_t kMaxLodRows = 1 << 19;
/// The maximum number of cells of the finest level: eight times the width of a large screen, so
/// that ops are needed only when the viewer is zoomed in.
inline constexpr size_t kMaxLodCells = 1 << 14;
/// The maximum number of cells of the coarsest level: less than a screen width.
inline constexpr size_t kCoarsestLodCells = 1 << 10;

/// Rows of all levels, finest first; within a level by stream, then by time. A level that would
/// have more than half as many rows as the next finer one (for the finest: the ops) is omitted:
/// drawing from the finer one is better. Ops without both times are ignored. O(ops).
std::vector<trace::Lod> level_of_detail(const Trace& trace, const StreamOps& stream_ops);

}  // namespace streamscope::analysis
