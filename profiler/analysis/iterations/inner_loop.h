// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A loop of a Python program inside an iteration, such as one over the images of a batch or over
// the parameters of a model: the same few ops are issued again and again.
#pragma once

#include <optional>
#include <string>

#include "iteration_model.h"

namespace streamscope::analysis {

/// Of one iteration.
struct InnerLoop {
  size_t ops = 0;       ///< kernels, copies and memsets of a round
  size_t rounds = 0;    ///< one right after the other, or in several loops
  double share = 0;     ///< of all ops, how many belong to a round
  std::string place{};  ///< by samples of the host: "at train.py:41 step", or "in scale
                        ///< (adjust.py), called at adjust.py:977 equalize"
};

/// By a steady iteration with the usual number of ops, or its first 8,192. Nothing if it has no
/// such loop, or only of fewer than 8 rounds, or of less than 3/5 of its ops, or if the samples do
/// not show where it is, or that its rounds are the layers of a network. O(n²/8) in these ops +
/// O(samples).
std::optional<InnerLoop> find_inner_loop(Analyses& analyses, const IterationModel& model);

}  // namespace streamscope::analysis
