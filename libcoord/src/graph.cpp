// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/graph.h"

#include <utility>

#include "codes.h"
#include "coord/stream.h"
#include "device_state.h"

namespace coord {

struct ExecutableGraph::Owned {
  Owned(std::shared_ptr<DeviceState> of, NativeExecutable handle)
      : device(std::move(of)), native(handle) {}
  ~Owned() { device->backend->destroy_executable(native); }

  const std::shared_ptr<DeviceState> device;
  const NativeExecutable native;
};

void ExecutableGraph::launch(StreamRef stream) const {
  constexpr const char* kCall = "ExecutableGraph::launch";
  if (owned_ == nullptr) throw make_error(kCodeInvalidHandle, kCall, "the graph is null");
  StreamState& state = stream.checked(kCall);
  const Owned& owned = *owned_;
  if (state.device != owned.device.get())
    throw make_error(kCodeInvalidHandle, kCall, "the stream belongs to another device");
  state.give({WorkKind::kGraph},
             [&] { owned.device->backend->launch_graph(owned.native, state.native); });
}

struct Graph::Owned {
  Owned(std::shared_ptr<DeviceState> of, NativeGraph handle)
      : device(std::move(of)), native(handle) {}
  ~Owned() { device->backend->destroy_graph(native); }

  const std::shared_ptr<DeviceState> device;
  const NativeGraph native;
};

Graph::Graph(std::shared_ptr<DeviceState> device, NativeGraph native)
    : owned_(std::make_shared<Owned>(std::move(device), native)) {}

GraphShape Graph::shape() const {
  if (owned_ == nullptr) throw make_error(kCodeInvalidHandle, "Graph::shape", "the graph is null");
  return owned_->device->backend->graph_shape(owned_->native);
}

ExecutableGraph Graph::instantiate() const {
  if (owned_ == nullptr)
    throw make_error(kCodeInvalidHandle, "Graph::instantiate", "the graph is null");
  const auto& [device, native] = *owned_;
  return ExecutableGraph(
      std::make_shared<ExecutableGraph::Owned>(device, device->backend->instantiate(native)));
}

}  // namespace coord
