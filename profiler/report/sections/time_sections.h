// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The sections on where time went: streams, waits, overlap, synchronizations, critical path. With
// iterations they show an iteration of the steady part first, and the whole run second.
#pragma once

#include "document.h"

namespace streamscope::report {

Section streams_section(const trace::Trace& trace, const Summary& summary);
Section waits_section(const trace::Trace& trace, const Summary& summary);
Section overlap_section(const trace::Trace& trace, const Summary& summary);
Section syncs_section(const trace::Trace& trace, const Summary& summary);
Section path_section(const Summary& summary);

}  // namespace streamscope::report
