// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the simulated device does not offer yet: capture, stream-ordered memory, peers.

#include "codes.h"
#include "sim/sim_backend.h"

namespace coord::sim {

namespace {
Error not_yet(const char* call) {
  return make_error(kCodeNotSupported, call, "the simulated device cannot do that yet");
}
}  // namespace

void* SimBackend::allocate_async(NativeStream, std::size_t) { throw not_yet("simMallocAsync"); }
void SimBackend::free_async(NativeStream, void*) { throw not_yet("simFreeAsync"); }
bool SimBackend::can_reach(const Backend& other) const noexcept { return this == &other; }
void SimBackend::copy_peer(NativeStream, void*, Backend&, const void*, Backend&, std::size_t) {
  throw not_yet("simMemcpyAsync");
}
void SimBackend::begin_capture(NativeStream, CaptureMode) {
  throw not_yet("simStreamBeginCapture");
}
NativeGraph SimBackend::end_capture(NativeStream) { throw not_yet("simStreamEndCapture"); }
CaptureStatus SimBackend::capture_status(NativeStream) { return CaptureStatus::kNone; }
CaptureMode SimBackend::exchange_capture_mode(CaptureMode) { return CaptureMode::kGlobal; }
GraphShape SimBackend::graph_shape(NativeGraph) { throw not_yet("simGraphGetNodes"); }
void SimBackend::destroy_graph(NativeGraph) noexcept {}
NativeExecutable SimBackend::instantiate(NativeGraph) { throw not_yet("simGraphInstantiate"); }
void SimBackend::launch_graph(NativeExecutable, NativeStream) { throw not_yet("simGraphLaunch"); }
void SimBackend::destroy_executable(NativeExecutable) noexcept {}

}  // namespace coord::sim
