// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that uses the CUDA driver and has no libcupti of its own.
#include <cuda.h>

int main() { return cuInit(0) == CUDA_SUCCESS ? 0 : 1; }
