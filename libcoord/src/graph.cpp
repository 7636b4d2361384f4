// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/graph.h"

#include <utility>

#include "codes.h"
#include "coord/stream.h"
#include "device_state.h"

namespace coord {

ExecutableGraph::ExecutableGraph(std::shared_ptr<DeviceState> device, NativeExecutable native)
    : device_(std::move(device)), native_(native) {}

ExecutableGraph::~ExecutableGraph() {
  if (device_ != nullptr) device_->backend->destroy_executable(native_);
}

ExecutableGraph::ExecutableGraph(ExecutableGraph&& other) noexcept
    : device_(std::move(other.device_)), native_(std::exchange(other.native_, 0)) {}

ExecutableGraph& ExecutableGraph::operator=(ExecutableGraph&& other) noexcept {
  ExecutableGraph moved(std::move(other));
  std::swap(device_, moved.device_);
  std::swap(native_, moved.native_);
  return *this;
}

void ExecutableGraph::launch(StreamRef stream) const {
  constexpr const char* kCall = "ExecutableGraph::launch";
  if (device_ == nullptr) throw make_error(kCodeInvalidHandle, kCall, "the graph is null");
  StreamState& state = stream.checked(kCall);
  if (state.device != device_.get())
    throw make_error(kCodeInvalidHandle, kCall, "the stream belongs to another device");
  state.give({WorkKind::kGraph}, [&] { device_->backend->launch_graph(native_, state.native); });
}

Graph::Graph(std::shared_ptr<DeviceState> device, NativeGraph native)
    : device_(std::move(device)), native_(native) {}

Graph::~Graph() {
  if (device_ != nullptr) device_->backend->destroy_graph(native_);
}

Graph::Graph(Graph&& other) noexcept
    : device_(std::move(other.device_)), native_(std::exchange(other.native_, 0)) {}

Graph& Graph::operator=(Graph&& other) noexcept {
  Graph moved(std::move(other));
  std::swap(device_, moved.device_);
  std::swap(native_, moved.native_);
  return *this;
}

GraphShape Graph::shape() const {
  if (device_ == nullptr) throw make_error(kCodeInvalidHandle, "Graph::shape", "the graph is null");
  return device_->backend->graph_shape(native_);
}

ExecutableGraph Graph::instantiate() const {
  if (device_ == nullptr)
    throw make_error(kCodeInvalidHandle, "Graph::instantiate", "the graph is null");
  return ExecutableGraph(device_, device_->backend->instantiate(native_));
}

}  // namespace coord
