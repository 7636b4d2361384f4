// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Display names for the objects of a trace. Used by every report and by the viewer, so that both
// name a stream in the same way. Total: invalid ids and missing names give readable text, never an
// exception.
#pragma once

#include <string>
#include <string_view>

#include "stream_ops.h"

namespace streamscope::analysis {

/// A kernel's name as its author knows it: demangled, without return type, parameters, enclosing
/// scopes and template arguments, e.g. "gemm<…>".
std::string short_kernel_name(std::string_view name);
/// Demangled, without parameters: "c10::cuda::device_synchronize".
std::string function_name(std::string_view name);
/// The same, also without return type and template arguments: "at::native::gpu_kernel_impl<…>".
std::string scoped_name(std::string_view name);

/// "gemm<…>", "memcpy HtoD", "memset", `host function "notify"`, ...
std::string op_label(const trace::Trace& trace, trace::Id op);
/// The same for an op with these column values; only strings of the trace are read.
std::string op_label(const trace::Trace& names, trace::Small kind, trace::Id name_id,
                     trace::Small detail);
/// "gemm<…> on stream 7 math"; "other work" if there is no such op.
std::string op_on_stream(const trace::Trace& trace, trace::Id op);
/// "cudaDeviceSynchronize", or "a synchronization" if its name is unknown.
std::string sync_name(const trace::Trace& trace, trace::Id host_sync);
/// "thread main" by name, otherwise "thread 812".
std::string thread_label(const trace::Trace& trace, trace::Id thread);
/// "thread loader"; a name like "thread 4711 (python3)" as it is.
std::string with_word_thread(const std::string& name);
/// "7", "7 copies" or "7 (default)"; with the process in front if the trace has several:
/// "train.py[812] 7 copies".
std::string stream_label(const trace::Trace& trace, trace::Id stream);
/// What identifies a stream across runs: its name, otherwise its kind.
std::string lasting_stream_name(const trace::Trace& trace, trace::Id stream);
/// `event "ready"` by name, otherwise "event 12".
std::string event_label(const trace::Trace& trace, trace::Id event);
/// "train.py" or "process 812".
std::string process_label(const trace::Trace& trace, trace::Id process);
/// "NVIDIA H200", or "device 0".
std::string device_label(const trace::Trace& trace, trace::Id device);
/// The text made safe for display: a control character becomes a space (line breaks stay with
/// `keep_lines`), invalid UTF-8 becomes U+FFFD, and characters that change the text direction are
/// spelled out, as [U+202E]. So a trace cannot control a terminal, and no name can imitate another.
std::string printable(std::string_view text, bool keep_lines = false);

}  // namespace streamscope::analysis
