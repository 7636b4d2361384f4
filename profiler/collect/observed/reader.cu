// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reports what a table or a spill contains (touch_table.h), and empties it; the collector runs both
// beside the program. Only a table has launches behind its start. The memory of both is the
// Sanitizer's, which the driver's own copies refuse.
#include "touch_table.h"

using namespace streamscope::collect;

extern "C" __global__ void streamscope_report(const TouchTable* table, TouchReport* report) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  const uint64_t first = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto* const launches =
      reinterpret_cast<const TouchLaunch*>(reinterpret_cast<const char*>(table) + kLaunchesOffset);
  for (uint64_t i = first; i < report->launch_count; i += step)
    report->launches[i].flags = launches[i].flags;
  if (first == 0) report->has_spilled = has_spilled(*table);
  for (uint64_t i = report->begin + first; i < report->end; i += step)
    report_slot(*table, table->slots[i], *report);
}

// All launches have ended, so nothing else uses the table.
extern "C" __global__ void streamscope_clear(TouchTable* table, TouchTable empty,
                                             uint32_t launch_count) {
  const uint64_t first = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  auto* const slots = reinterpret_cast<uint4*>(empty.slots);
  for (uint64_t i = first; i < empty.capacity * sizeof(TouchSlot) / sizeof(uint4); i += step)
    slots[i] = {};
  auto* const launches =
      reinterpret_cast<TouchLaunch*>(reinterpret_cast<char*>(table) + kLaunchesOffset);
  for (uint64_t i = first; i < launch_count; i += step) launches[i] = {};
  if (first == 0) *table = empty;
}
