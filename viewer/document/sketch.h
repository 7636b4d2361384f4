// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A first look at a large trace, long before all of it is read: its streams, and in place of its
// ops the cells of the level-of-detail pyramid that recording or `streamscope analyze` left in it.
#pragma once

#include <filesystem>
#include <optional>

#include "trace/reader.h"

namespace streamscope::viewer {

/// Each row of `op` stands for all work of one stream in a cell of time that is narrower than a
/// pixel of a picture `width_px` wide, where the pyramid is that fine: it begins with the first of
/// them, is as long as the device was busy with them, and is of the kind of the longest. Nothing if
/// the file has no pyramid of this version, as small traces do not. Throws Error as trace::read().
std::optional<trace::Trace> read_sketch(const std::filesystem::path& file, int width_px);

}  // namespace streamscope::viewer
