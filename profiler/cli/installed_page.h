// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The page of the viewer that is installed or built beside this program.
#pragma once

#include "report/app/viewer_page.h"

namespace streamscope::cli {

/// From the file that STREAMSCOPE_WEB_VIEWER names, else share/streamscope/viewer.html beside the
/// folder of this program, else web/viewer.html of the build folder. Throws Error.
report::ViewerPage installed_page();

}  // namespace streamscope::cli
