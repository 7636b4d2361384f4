// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's callbacks as the source of calls.
//
// A runtime call makes driver calls inside; those are part of it and not recorded. Only traced
// callback ids are enabled, so an untraced runtime call is not seen: a traced driver call inside it
// is then the outermost known call, and is recorded as one.
#pragma once

#include <cstdint>

namespace streamscope::collect {

enum class CuptiStart {
  kOk,
  kOtherSubscriber,  // another tool is subscribed; reported to the user
  kFailed,           // reported to the user
};

/// Subscribes, enables the tier's activities and the callbacks of all traced calls; if one of these
/// fails, all of it is undone. Needs a running session and load_cupti(). `late`: CUDA was in use
/// before. Call once.
CuptiStart start_cupti(bool late);

/// Enables the tier's activities without subscribing, for calls that wrappers record. If that
/// fails, only the times are missing. Needs a running session and load_cupti(). Call once.
void start_device_times();

/// The same on demand, when CUDA is in use, for session.start_device_times: loads CUPTI, which then
/// reports no calls of the driver, so callbacks tell the numbers of those that wrappers record,
/// while device times are on. Not from callbacks. Call once.
void start_device_times_on_demand();
/// Undoes it.
void stop_device_times_on_demand();

/// True if we are CUPTI's subscriber; then it refuses every other one.
bool holds_cupti();

/// Disables every callback and unsubscribes, in the order that leaves nothing behind in the driver.
void stop_cupti();

/// "cupti 130001": for ProcessRecord. Static text.
const char* collector_text();

void forget_cupti_after_fork();

}  // namespace streamscope::collect
