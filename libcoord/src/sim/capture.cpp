// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream capture and graphs on the simulated device, with CUDA's rules and errors.

#include <algorithm>
#include <utility>

#include "codes.h"
#include "device_state.h"
#include "sim/call.h"

namespace coord::sim {

namespace {

void add_to(std::vector<std::uint32_t>& tail, const std::vector<std::uint32_t>& more) {
  for (const std::uint32_t node : more) {
    if (std::ranges::find(tail, node) == tail.end()) tail.push_back(node);
  }
}

/// Whether all nodes of `tail` come before, or are among, those of `end`.
bool leads_to(const GraphNodes& nodes, const std::vector<std::uint32_t>& tail,
              const std::vector<std::uint32_t>& end) {
  std::vector<bool> before(nodes.size(), false);
  for (const std::uint32_t node : end) before[node] = true;
  for (std::size_t node = nodes.size(); node-- > 0;) {
    if (!before[node]) continue;
    for (const std::uint32_t other : nodes[node].after) before[other] = true;
  }
  return std::ranges::all_of(tail, [&](std::uint32_t node) { return before[node]; });
}

}  // namespace

void SimBackend::join_capture(Call& call, const EventEntry& event) {
  StreamEntry& stream = machine_.streams[call.stream];
  const auto mine = machine_.captures.find(stream.capture);
  if (event.capture == 0) {
    if (event.record.serial == 0) return;  // never recorded: waits for nothing
    call.break_capture(mine->second, kCodeCaptureIsolation,
                       "the event was recorded outside of the capture");
  }
  const auto its = machine_.captures.find(event.capture);
  if (its == machine_.captures.end()) {
    if (mine == machine_.captures.end())
      call.fail(kCodeInvalidValue, "the event's newest record became part of a graph");
    call.break_capture(mine->second, kCodeCaptureIsolation, "the event belongs to another capture");
  }
  if (its->second.invalid)
    call.fail(kCodeCaptureInvalidated, "the capture was invalidated by an earlier error");
  if (stream.capture == 0) {
    if (stream.kind == StreamKind::kLegacy)
      call.break_capture(its->second, kCodeCaptureImplicit, "the legacy stream cannot be captured");
    stream.capture = event.capture;
    its->second.streams.push_back(call.stream);
  } else if (its != mine) {
    its->second.invalid = true;
    call.break_capture(mine->second, kCodeCaptureMerge, "two captures cannot be joined");
  }
  add_to(stream.capture_tail, event.capture_tail);
}

void SimBackend::begin_capture(NativeStream stream, CaptureMode mode) {
  Call call(*this, "simStreamBeginCapture", stream, CaptureRule::kCaptures);
  StreamEntry& entry = machine_.streams[call.stream];
  if (entry.kind == StreamKind::kLegacy)
    call.fail(kCodeCaptureUnsupported, "the legacy stream cannot be captured");
  if (entry.capture != 0) call.fail(kCodeIllegalState, "the stream is already being captured");
  entry.capture = machine_.next_graph_id++;
  machine_.captures[entry.capture] = {.mode = mode,
                                      .thread = this_thread_number(),
                                      .origin = call.stream,
                                      .device = device_,
                                      .streams = {call.stream}};
  call.finish(costs_.capture_ns);
}

NativeGraph SimBackend::end_capture(NativeStream stream) {
  Call call(*this, "simStreamEndCapture", stream, CaptureRule::kCaptures);
  const auto found = machine_.captures.find(machine_.streams[call.stream].capture);
  if (found == machine_.captures.end())
    call.fail(kCodeIllegalState, "the stream is not being captured");
  if (found->second.origin != call.stream)
    call.break_capture(found->second, kCodeCaptureUnmatched, "the capture began on another stream");
  if (found->second.mode != CaptureMode::kRelaxed && found->second.thread != this_thread_number())
    call.break_capture(found->second, kCodeCaptureWrongThread,
                       "the capture was begun by another thread");
  Capture capture = std::move(found->second);
  const std::uint64_t id = found->first;
  bool joined = true;
  const std::vector<std::uint32_t> end = machine_.streams[call.stream].capture_tail;
  for (const std::uint32_t other : capture.streams) {
    StreamEntry& entry = machine_.streams[other];
    joined = joined && leads_to(capture.nodes, entry.capture_tail, end);
    entry.capture = 0;
    entry.capture_tail.clear();
  }
  machine_.captures.erase(found);
  if (capture.invalid)
    call.fail(kCodeCaptureInvalidated, "the capture was invalidated by an earlier error");
  if (!joined)
    call.fail(kCodeCaptureUnjoined, "a stream that joined the capture was not joined back");
  machine_.graphs[id] = std::make_shared<const GraphNodes>(std::move(capture.nodes));
  call.says(id);
  call.finish(costs_.capture_ns);
  return id;
}

CaptureStatus SimBackend::capture_status(NativeStream stream) {
  std::lock_guard lock(machine_.mutex);
  const auto found = machine_.captures.find(
      machine_.streams[machine_.find_stream(device_, stream, "simStreamIsCapturing")].capture);
  if (found == machine_.captures.end()) return CaptureStatus::kNone;
  return found->second.invalid ? CaptureStatus::kInvalidated : CaptureStatus::kActive;
}

CaptureMode SimBackend::exchange_capture_mode(CaptureMode mode) {
  std::lock_guard lock(machine_.mutex);
  const auto entry =
      machine_.capture_modes.try_emplace(this_thread_number(), CaptureMode::kGlobal).first;
  return std::exchange(entry->second, mode);
}

GraphShape SimBackend::graph_shape(NativeGraph graph) {
  std::lock_guard lock(machine_.mutex);
  const GraphNodes& nodes = *machine_.graphs.at(graph);
  GraphShape shape{.nodes = nodes.size()};
  for (const GraphNode& node : nodes) shape.edges += node.after.size();
  return shape;
}

void SimBackend::destroy_graph(NativeGraph graph) noexcept {
  std::lock_guard lock(machine_.mutex);
  machine_.graphs.erase(graph);
}

NativeExecutable SimBackend::instantiate(NativeGraph graph) {
  Call call(*this, "simGraphInstantiate", CaptureRule::kSafe);
  const auto nodes = machine_.graphs.at(graph);
  const NativeExecutable executable = machine_.next_graph_id++;
  machine_.executables[executable] = {.nodes = nodes};
  call.says(executable, graph);
  call.finish(costs_.graph_instantiate_ns +
              static_cast<std::int64_t>(nodes->size()) * costs_.graph_instantiate_node_ns);
  return executable;
}

void SimBackend::launch_graph(NativeExecutable executable, NativeStream stream) {
  Call call(*this, "simGraphLaunch", stream);
  call.says(executable);
  Executable& graph = machine_.executables.at(executable);
  const GraphNodes& nodes = *graph.nodes;
  const auto submit = [&](const GraphNode& node, std::span<const OpRef> after) {
    OpSpec spec = node.spec;
    spec.name = node.name;
    spec.in_graph = true;
    return call.submit(std::move(spec), after);
  };
  if (call.captured()) {  // its nodes become nodes of the graph that is being captured
    StreamEntry& entry = machine_.streams[call.stream];
    GraphNodes& into = machine_.captures.at(entry.capture).nodes;
    const auto offset = static_cast<std::uint32_t>(into.size());
    const std::vector<std::uint32_t> before = std::exchange(entry.capture_tail, {});
    std::vector<bool> last(nodes.size(), true);
    for (const GraphNode& node : nodes) {
      GraphNode copy = node;
      for (std::uint32_t& other : copy.after) {
        last[other] = false;
        other += offset;
      }
      if (copy.after.empty()) copy.after = before;
      into.push_back(std::move(copy));
    }
    for (std::uint32_t node = 0; node < last.size(); ++node) {
      if (last[node]) entry.capture_tail.push_back(offset + node);
    }
    if (nodes.empty()) entry.capture_tail = before;
  } else {
    const std::uint64_t launch = machine_.next_graph_id++;
    const OpRef earlier[] = {graph.last_end};
    const OpRef begin =
        call.submit({.kind = OpKind::kGraphBegin, .name = "graph", .value = launch}, earlier);
    std::vector<OpRef> submitted, after;
    for (const GraphNode& node : nodes) {
      after.clear();
      for (const std::uint32_t other : node.after) after.push_back(submitted[other]);
      if (after.empty()) after.push_back(begin);
      submitted.push_back(submit(node, after));
    }
    graph.last_end =
        call.submit({.kind = OpKind::kGraphEnd, .name = "graph", .value = launch}, submitted);
  }
  call.finish(costs_.graph_launch_ns +
              static_cast<std::int64_t>(nodes.size()) * costs_.graph_launch_node_ns);
}

void SimBackend::destroy_executable(NativeExecutable executable) noexcept {
  if (inside_device()) return;
  try {
    Call call(*this, "simGraphExecDestroy");
    call.cannot_throw();
    call.enter(CaptureRule::kSafe);
    call.says(executable);
    machine_.executables.erase(executable);
    call.finish(0);
  } catch (const Error&) {
    // The device has failed: nothing is left to destroy.
  }
}

}  // namespace coord::sim
