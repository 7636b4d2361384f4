// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord's operations -> ring records: hooks of the observer table.
#pragma once

#include <coord/observer.h>

#include <cstdint>

namespace streamscope::collect {

void on_operation_registered(const coord_operation_facts* facts);
uint64_t* on_operation_entered(const coord_operation_begin_facts* facts);
uint32_t on_operation_kind(const coord_operation_begin_facts* facts);
uint64_t* on_operation_of_kind(uint32_t number, uint32_t operation, uint64_t registered,
                               uint64_t begun, const coord_dependency_facts* dependencies,
                               uint32_t dependency_count);
void on_operation_begin(uint32_t operation, int64_t time_ns);
void on_operation_end(uint32_t operation, int64_t time_ns);
void on_operation_stamp(uint32_t operation, uint32_t state, uint32_t clock, uint64_t stamp);
void on_operations_completed(const uint32_t* operations, uint32_t count, uint32_t clock,
                             uint64_t at);
void on_dependency(uint32_t operation, uint32_t depends_on, uint32_t inferred, uint32_t elided);

}  // namespace streamscope::collect
