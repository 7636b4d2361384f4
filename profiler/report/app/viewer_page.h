// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The page with which a browser shows traces: one file with the viewer inside and a place for
// traces. Used to put a trace into it, and to serve it beside traces.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace streamscope::report {

struct ViewerPage {
  std::string before, after;  ///< what is before and behind the traces
};

/// Throws Error if the file cannot be read or is no such page.
ViewerPage read_viewer_page(const std::filesystem::path& file);

/// Lets the page connect to the server that it comes from; otherwise it connects to nothing. Throws
/// Error if it has not exactly one policy for connections.
void allow_connections_to_server(ViewerPage& page);

/// Takes the program out of the page, which then fetches it from `code` beside it: a browser takes
/// long to read it as text. Returns it, compressed by gzip; empty if the page has none.
std::string take_code(ViewerPage& page);

/// The beginning of the element of a trace of so many bytes: `<script …`, without the `>`. `run`:
/// the name of the run that it is a rank of, or empty.
std::string begin_trace_element(std::string_view name, uint64_t bytes, std::string_view run = {});

}  // namespace streamscope::report
