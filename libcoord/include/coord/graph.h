// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Captured work that can be launched repeatedly with one call.
//
// StreamRef::begin_capture and end_capture create a Graph; instantiating it creates an
// ExecutableGraph. Neither refers to the streams it was captured from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "coord/backend.h"
#include "coord/export.h"

namespace coord {

struct DeviceState;
class StreamRef;

/// A graph that can be launched. Owned; keeps its device open. May be destroyed while a launch of
/// it is pending. Thread-compatible.
class COORD_EXPORT ExecutableGraph {
 public:
  ExecutableGraph() = default;
  ~ExecutableGraph();
  ExecutableGraph(ExecutableGraph&& other) noexcept;
  ExecutableGraph& operator=(ExecutableGraph&& other) noexcept;

  /// Enqueues all its work into `stream`, which belongs to the same device. A launch starts after
  /// earlier launches of the same graph have ended. Throws kInvalidHandle and the device's error.
  void launch(StreamRef stream) const;

 private:
  friend class Graph;
  ExecutableGraph(std::shared_ptr<DeviceState> device, NativeExecutable native);

  std::shared_ptr<DeviceState> device_;
  NativeExecutable native_ = 0;
};

/// The result of a capture. Owned; keeps its device open. Thread-compatible.
class COORD_EXPORT Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&& other) noexcept;

  /// Kernels, copies, memsets, host functions and so on; records and waits are edges.
  [[nodiscard]] GraphShape shape() const;
  [[nodiscard]] ExecutableGraph instantiate() const;

 private:
  friend class StreamRef;
  Graph(std::shared_ptr<DeviceState> device, NativeGraph native);

  std::shared_ptr<DeviceState> device_;
  NativeGraph native_ = 0;
};

}  // namespace coord
