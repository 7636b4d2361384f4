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
#include <utility>

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
  ExecutableGraph(ExecutableGraph&& other) noexcept = default;
  ExecutableGraph& operator=(ExecutableGraph&& other) noexcept = default;

  /// Enqueues all its work into `stream`, which belongs to the same device. A launch starts after
  /// earlier launches of the same graph have ended. Throws kInvalidHandle and the device's error.
  void launch(StreamRef stream) const;

 private:
  friend class Graph;
  struct Owned;
  explicit ExecutableGraph(std::shared_ptr<const Owned> owned) : owned_(std::move(owned)) {}

  std::shared_ptr<const Owned> owned_;  // has one owner
};

/// The result of a capture. Owned; keeps its device open. Thread-compatible.
class COORD_EXPORT Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept = default;
  Graph& operator=(Graph&& other) noexcept = default;

  /// Kernels, copies, memsets, host functions and so on; records and waits are edges.
  [[nodiscard]] GraphShape shape() const;
  [[nodiscard]] ExecutableGraph instantiate() const;

 private:
  friend class StreamRef;
  struct Owned;
  Graph(std::shared_ptr<DeviceState> device, NativeGraph native);

  std::shared_ptr<const Owned> owned_;  // has one owner
};

}  // namespace coord
