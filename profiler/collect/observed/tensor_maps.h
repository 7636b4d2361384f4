// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tensor maps (CUtensorMap): what the program encodes, and which of them a kernel receives. They
// bound the memory that the kernel copies by TMA, whose addresses no patch sees.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "collect/calls/launch_parameters.h"
#include "collect/observed/mapped_memory.h"

namespace streamscope::collect {

struct ThreadState;

/// The program has encoded a map, or gave one another address. Thread-safe. The newest 65,536
/// different ones are known.
void note_tensor_map(const CUtensorMap& map, const MappedMemory& memory);
void note_moved_tensor_map(const CUtensorMap& before, const CUtensorMap& now, const void* address);

/// At the exit of a launch in the driver, of a kernel with these CodeTraits: reports the memory of
/// the maps among its parameters, as AccessRecords of source kTensorMap. False if none of them is
/// known.
bool report_tensor_maps(ThreadState& thread, const LaunchParameters& launch, uint8_t code);

void forget_tensor_maps_after_fork();

}  // namespace streamscope::collect
