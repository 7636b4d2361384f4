// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Describes nodes and cycles of a wait-for graph in words, for findings and hang explanations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wait_for.h"

namespace streamscope::analysis {

/// "cudaStreamSynchronize" for a call, "waiting for a lock" for a thread outside of any call.
std::string call_name(const Trace& trace, const WaitFor::Node& node);
/// The thread of a node that is a call or a thread.
Id thread_of_call(const Trace& trace, const WaitFor::Node& node);
/// `memory wait "wait" on stream 7 math`, `cudaStreamSynchronize on thread main`.
std::string name_of(const Trace& trace, const WaitFor::Node& node);
/// Why one node waits for another: "is queued behind", "needs", ...
std::string_view reason(WaitFor::Why why);
/// The thread of a call, or the stream of another node: "thread main", "stream 7 math".
std::string party_of(const Trace& trace, const WaitFor::Node& node);
/// A cycle as sentences: "A needs B, which is queued behind C, which needs ... the first".
std::string in_words(const Trace& trace, const WaitFor& graph,
                     const std::vector<WaitFor::Step>& cycle);

}  // namespace streamscope::analysis
