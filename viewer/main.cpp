// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// streamscope-viewer: arguments, then a window or a picture.

#include <cstdio>
#include <exception>

#include "trace/error.h"
#include "window/app.h"
#include "window/arguments.h"

int main(int count, char** values) {
  using namespace streamscope::viewer;
  try {
    const Arguments arguments = parse_arguments({values + 1, values + count});
    if (arguments.help) {
      std::fputs(usage().c_str(), stdout);
    } else if (arguments.version) {
      std::puts("streamscope-viewer " STREAMSCOPE_VERSION);
    } else if (!arguments.screenshot.empty()) {
      run_screenshot(arguments);
    } else {
      run_window(arguments);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "streamscope-viewer: %s\n", streamscope::explain(error).c_str());
    return 2;
  }
}
