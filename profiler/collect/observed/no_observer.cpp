// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// For builds without nvcc.
#include "collect/observed/observer.h"

namespace streamscope::collect {

const char* observing_obstacle() { return "this build lacks it, because nvcc was not found"; }
bool start_observing() { return false; }
void observe_before_launch(uint64_t) {}
void observe_after_launch() {}
void observe_stream_end(uint64_t) {}
bool report_touched() { return true; }
void observe_no_more(const char*) {}
void finish_observing() {}
void forget_observing_after_fork() {}

}  // namespace streamscope::collect
