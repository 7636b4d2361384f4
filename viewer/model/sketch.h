// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A first view of a large trace, long before it is fully read: its streams, and in place of its ops
// the cells of the level-of-detail pyramid that recording or `streamscope analyze` stored in it.
#pragma once

#include <filesystem>
#include <optional>

#include "trace/read/reader.h"

namespace streamscope::viewer {

/// Each row of `op` stands for all work of one stream in a cell of time that is at most some pixels
/// wide in a picture of `width_px`, if the pyramid is that fine. It begins with the first of this
/// work, lasts as long as the device was busy with it, and has the kind of the longest. Empty if
/// the file has no pyramid of this version; small traces have none. Throws Error like
/// trace::read().
std::optional<trace::Trace> read_sketch(const std::filesystem::path& file, int width_px);

}  // namespace streamscope::viewer
