// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Graphs without CUPTI: their structure is read from the live graph when it is instantiated, and
// which call became which node from the state of the capture after each captured call.
//
// All functions run at the exit of a successful call, on the thread that made it; thread-safe.
#pragma once

#include <cuda.h>

#include "collect/calls/call_table.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// While a capture is in progress somewhere in the process: if the thread's open call was captured,
/// its node is noted.
void note_captured_node(const ThreadState& thread, const CallEntry& entry);

/// Reports the graph, as far as it is new, and the executable graph that was made from it.
void report_instantiated(ThreadState& thread, CUgraph graph, CUgraphExec executable);

/// The executable graph is gone since the entry of the open call.
void report_destroyed(ThreadState& thread, CUgraphExec executable);

/// A graph is gone; its handle and those of its nodes may be used again.
void forget_graph(CUgraph graph);
/// The same for a node of a graph that stays.
void forget_node(CUgraphNode node);

void forget_graphs_after_fork();

}  // namespace streamscope::collect
