// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "restore.h"

#include "earlier_rows.h"

namespace streamscope::record {

std::vector<std::unique_ptr<ProcessDrain>> restore(
    RunState& run, const trace::Trace& trace,
    const std::map<trace::Id, ProcessIdentity>& identities,
    const std::vector<IdJournal::Entry>& journal) {
  EarlierRows rows(trace, run.clock);
  std::vector<std::unique_ptr<ProcessDrain>> processes;
  for (trace::Id id = 0; id < trace.process.size(); ++id) {
    const auto known = identities.find(id);
    const bool has_rings = known != identities.end();
    const auto pid = static_cast<uint32_t>(trace.process.os_pid[id]);
    processes.push_back(std::make_unique<ProcessDrain>(
        run, has_rings ? known->second : ProcessIdentity{pid, 0, 0}, id));
    processes.back()->restore(rows, has_rings);
  }
  for (const IdJournal::Entry& entry : journal) {
    if (entry.kind == IdJournal::Kind::kText && entry.id < trace.strings.size())
      run.texts.restore(entry.hash, entry.id, trace.strings[entry.id] != "?");
    if (entry.kind == IdJournal::Kind::kLaunchShape && entry.id < trace.launch_shape.size() &&
        entry.process < processes.size())
      processes[entry.process]->restore_shape(static_cast<uint32_t>(entry.hash), entry.id);
  }
  return processes;
}

}  // namespace streamscope::record
