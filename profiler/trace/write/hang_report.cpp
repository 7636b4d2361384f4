// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "hang_report.h"

namespace streamscope::trace {

bool is_alarm(std::string_view verdict) { return verdict != "alive" && verdict != "idle"; }

Id append_hang(Writer& writer, Id process, Ns at, const HangReport& report) {
  Hang hang;
  hang.process_id = process;
  hang.start_ns = at;
  hang.verdict_id = writer.intern(report.verdict);
  hang.text_id = writer.intern(report.text);
  const Id id = writer.append(hang);
  const Id first_node = writer.count<HangNode>();
  for (const HangReport::Node& node : report.nodes) {
    HangNode row;
    row.hang_id = id;
    row.kind = node.kind;
    row.object_id = node.object;
    row.name_id = writer.intern(node.name);
    row.in_cycle = node.in_cycle ? 1 : 0;
    row.stack_id = node.stack;
    writer.append(row);
  }
  for (const HangReport::Edge& edge : report.edges) {
    HangEdge row;
    row.hang_id = id;
    row.from_node_id = first_node + static_cast<Id>(edge.from);
    row.to_node_id = first_node + static_cast<Id>(edge.to);
    row.kind = edge.kind;
    row.reason_id = writer.intern(edge.reason);
    writer.append(row);
  }
  return id;
}

}  // namespace streamscope::trace
