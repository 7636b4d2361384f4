// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Rebuilds a writer's state from the rows that it stored before it was killed.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "id_journal.h"
#include "record/drain/process_drain.h"
#include "record/drain/run_state.h"
#include "trace/read/reader.h"

namespace streamscope::record {

/// `identities`: by row, of the processes that have rings. The others had ended before and are
/// finished() in the result.
std::vector<std::unique_ptr<ProcessDrain>> restore(
    RunState& run, const trace::Trace& trace,
    const std::map<trace::Id, ProcessIdentity>& identities,
    const std::vector<IdJournal::Entry>& journal);

}  // namespace streamscope::record
