// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord's task queues -> ring records: hooks of the observer table.
#pragma once

#include <coord/observer.h>

#include <cstdint>

namespace streamscope::collect {

void on_task_queue(const coord_task_queue_facts* facts);
void on_task_run(uint32_t queue, uint32_t run);
uint64_t on_task_stamp(uint32_t* clock);
uint32_t on_tasks(const coord_tasks_facts* facts);

}  // namespace streamscope::collect
