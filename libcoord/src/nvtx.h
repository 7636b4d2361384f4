// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names for tools that listen to NVTX (nsys, our collector): operations as ranges of domain
// "coord", and streams and events by name. No effect unless libcoord was built with the headers of
// the CUDA toolkit.
#pragma once

#include <cstdint>

namespace coord::nvtx {

#ifdef COORD_HAVE_CUDA
/// Whether a tool listens; if not, none ever will.
bool listening() noexcept;
void push(const char* name) noexcept;
void pop() noexcept;
void name_stream(std::uint64_t handle, const char* name) noexcept;
void name_event(std::uint64_t handle, const char* name) noexcept;
#else
inline bool listening() noexcept { return false; }
inline void push(const char*) noexcept {}
inline void pop() noexcept {}
#endif

}  // namespace coord::nvtx
