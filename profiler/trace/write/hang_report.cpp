// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "hang_report.h"

namespace streamscope::trace {

bool is_alarm(std::string_view verdict) { return verdict != "alive" && verdict != "idle"; }

Id append_hang(Writer& writer, Id process, Ns at, const HangReport& report) {
  const Id id = writer.append(Hang{.process_id = process,
                                   .start_ns = at,
                                   .verdict_id = writer.intern(report.verdict),
                                   .text_id = writer.intern(report.text)});
  const Id first_node = writer.count<HangNode>();
  for (const HangReport::Node& node : report.nodes) {
    writer.append(HangNode{.hang_id = id,
                           .kind = node.kind,
                           .object_id = node.object,
                           .name_id = writer.intern(node.name),
                           .in_cycle = node.in_cycle ? 1 : 0,
                           .stack_id = node.stack});
  }
  for (const HangReport::Edge& edge : report.edges) {
    writer.append(HangEdge{.hang_id = id,
                           .from_node_id = first_node + static_cast<Id>(edge.from),
                           .to_node_id = first_node + static_cast<Id>(edge.to),
                           .kind = edge.kind,
                           .reason_id = writer.intern(edge.reason)});
  }
  return id;
}

}  // namespace streamscope::trace
