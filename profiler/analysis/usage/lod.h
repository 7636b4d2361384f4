// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The level-of-detail pyramid: what every stream did, cell of time by cell, for a viewer that shows
// more ops than a screen has pixels.
//
// All cells of a level are equally wide and lie on whole multiples of their width, so that levels
// nest and a picture does not flicker when it moves. A cell takes part by the ops that start in it;
// empty ones are left out. Four cells make one of the level above.
#pragma once

#include <vector>

#include "analysis/timeline.h"

namespace streamscope::analysis {

/// The pyramid has at most about so many rows, however long the trace: a few dozen MiB.
inline constexpr size_t kMaxLodRows = 1 << 19;
/// Cells of the finest level over the length of the trace, at most: eight times the width of a
/// large screen, so that ops themselves are needed only where one looks at a part of the trace.
inline constexpr size_t kMaxLodCells = 1 << 14;
/// A level has at most so many cells where it is the coarsest: less than a screen is wide.
inline constexpr size_t kCoarsestLodCells = 1 << 10;

/// Rows of all levels, the finest first; within a level by stream, then by time. A level that would
/// have more than half as many rows as the one below (the ops below the finest) is left out: who
/// draws is better served by that one. Ops without both times take no part. O(ops).
std::vector<trace::Lod> level_of_detail(const Trace& trace, const Timeline& timeline);

}  // namespace streamscope::analysis
