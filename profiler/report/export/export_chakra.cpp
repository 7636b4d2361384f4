// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A Chakra execution trace of one rank, which simulators of distributed training replay: a node for
// each op and for what the host took until it issued it, with what each needs. Nodes come after
// those that they depend on; each message follows its length as a varint.

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "analysis/labels.h"
#include "analysis/order/edges.h"
#include "analysis/usage/collectives.h"
#include "export.h"
#include "export/chakra.pb.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;
using trace::Ns;
using trace::Trace;

constexpr const char* kSchemaVersion = "0.0.4";

// Chakra's numbers; nothing for what it does not know.
std::optional<int64_t> chakra_number(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 0;
    case CollectiveKind::kReduce:
      return 1;
    case CollectiveKind::kAllGather:
      return 2;
    case CollectiveKind::kGather:
      return 3;
    case CollectiveKind::kScatter:
      return 4;
    case CollectiveKind::kBroadcast:
      return 5;
    case CollectiveKind::kAllToAll:
      return 6;
    case CollectiveKind::kReduceScatter:
      return 7;
    case CollectiveKind::kBarrier:
      return 9;
    default:
      return std::nullopt;
  }
}

class ChakraWriter {
 public:
  ChakraWriter(const Trace& trace, const ExportOptions& options)
      : trace_(trace), options_(options), order_(trace), edges_(order_) {
    for (const Ns start : trace.op.start_ns) {
      if (start != kUnknownNs) origin_ns_ = std::min(origin_ns_, start);
    }
    for (analysis::Collective& one : analysis::collectives(trace)) {
      if (one.op != kNoId) collectives_.emplace(one.op, std::move(one));
    }
  }

  std::string write() {
    chakra::GlobalMetadata metadata;
    metadata.set_version(kSchemaVersion);
    append(metadata);
    for (const analysis::Issued item : order_.items()) {
      if (item.kind() == analysis::Issued::kOp) add_op(item.id());
      if (item.kind() == analysis::Issued::kSync) add_sync(item.id());
    }
    if (op_nodes_.empty()) refuse_empty(trace_.file, options_);
    return std::move(bytes_);
  }

 private:
  struct Host {
    Ns free_ns = kUnknownNs;  // when its last call returned
    std::optional<uint64_t> node;
    Ns rest_ns = 0;  // below one microsecond, left by the nodes before
  };

  template <class Message>
  void append(const Message& message) {
    google::protobuf::io::StringOutputStream stream(&bytes_);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteVarint32(static_cast<uint32_t>(message.ByteSizeLong()));
    message.SerializeToCodedStream(&out);
  }

  chakra::Node node(std::string name, chakra::NodeType type, bool on_host, Ns start_ns) {
    chakra::Node node;
    node.set_id(next_id_++);
    node.set_name(analysis::printable(name));
    node.set_type(type);
    node.set_start_time_micros(
        static_cast<uint64_t>(std::max<Ns>(trace::difference_of(start_ns, origin_ns_), 0) / 1000));
    attribute(node, "is_cpu_op").set_bool_val(on_host);
    return node;
  }
  static chakra::Attribute& attribute(chakra::Node& node, const char* name) {
    chakra::Attribute& attribute = *node.add_attr();
    attribute.set_name(name);
    return attribute;
  }
  // Whole microseconds, so that the sum over nodes stays right.
  static void set_duration(chakra::Node& node, Ns duration_ns, Ns& rest_ns) {
    trace::add_to(rest_ns, std::max<Ns>(duration_ns, 0));
    node.set_duration_micros(static_cast<uint64_t>(rest_ns / 1000));
    rest_ns %= 1000;
  }

  // What a thread took for itself until `until_ns`.
  chakra::Node host_node(Host& host, std::string name, Ns until_ns) {
    const Ns from_ns = host.free_ns == kUnknownNs ? until_ns : host.free_ns;
    chakra::Node result = node(std::move(name), chakra::COMP_NODE, true, from_ns);
    if (host.node) result.add_ctrl_deps(*host.node);
    set_duration(result, trace::difference_of(until_ns, from_ns), host.rest_ns);
    host.node = result.id();
    host.free_ns = std::max(host.free_ns, until_ns);
    return result;
  }

  void add_op(Id op) {
    const auto& ops = trace_.op;
    if (!is_wanted(options_, ops.start_ns[op], ops.end_ns[op])) return;
    const std::string label = analysis::op_label(trace_, op);
    const std::optional<uint64_t> issued = issue(op, label);
    chakra::Node run = node(label, chakra::COMP_NODE, false, ops.start_ns[op]);
    describe(op, run);
    if (issued) run.add_data_deps(*issued);
    Stream& stream = streams_[order_.stream(op)];
    const std::span<const trace::Edge> edges = edges_.incoming(op);
    // Nodes of a graph run in the order of its edges.
    const bool in_order = ops.graph_node[op] == trace::kNoInt || edges.empty();
    if (in_order && stream.node) run.add_data_deps(*stream.node);
    for (const trace::Edge& edge : edges) add_dependency(run, edge.from_op_id);
    set_duration(run, trace::difference_of(ops.end_ns[op], ops.start_ns[op]), stream.rest_ns);
    stream.node = run.id();
    op_nodes_[op] = run.id();
    append(run);
  }

  // The node of the host that issues the op; one for all ops of a call.
  std::optional<uint64_t> issue(Id op, const std::string& label) {
    const analysis::Issue issue = order_.issue(op);
    if (issue.end_ns == kUnknownNs) return std::nullopt;
    Host& host = hosts_[issue.thread_id];
    if (!host.node || issue.end_ns > host.free_ns)
      append(host_node(host, "issue " + label, issue.end_ns));
    return host.node;
  }

  void describe(Id op, chakra::Node& run) {
    const auto found = collectives_.find(op);
    if (found == collectives_.end()) return;
    const analysis::Collective& one = found->second;
    const std::optional<int64_t> number = chakra_number(one.kind);
    if (number) {
      run.set_type(chakra::COMM_COLL_NODE);
      attribute(run, "comm_type").set_int64_val(*number);
    } else if (is_message(one.kind) && one.peer >= 0) {
      const bool sends = one.kind == CollectiveKind::kSend;
      run.set_type(sends ? chakra::COMM_SEND_NODE : chakra::COMM_RECV_NODE);
      attribute(run, sends ? "comm_dst" : "comm_src").set_int32_val(one.peer);
      attribute(run, "comm_tag").set_int32_val(static_cast<int32_t>(one.sequence));
    } else {
      return;
    }
    attribute(run, "comm_size").set_int64_val(one.bytes);
    attribute(run, "pg_name").set_string_val(analysis::printable(one.communicator));
  }

  void add_dependency(chakra::Node& on, Id op) const {
    const auto found = op_nodes_.find(op);
    if (found != op_nodes_.end()) on.add_data_deps(found->second);
  }

  // The time until the call is the host's own, that in the call is not, as far as it waited.
  void add_sync(Id sync) {
    const auto& syncs = trace_.host_sync;
    if (!is_wanted(options_, syncs.start_ns[sync], syncs.end_ns[sync])) return;
    Ns ended_ns = syncs.start_ns[sync];
    for (const Id op : edges_.sync_sources(sync)) {
      if (op_nodes_.contains(op)) ended_ns = std::max(ended_ns, trace_.op.end_ns[op]);
    }
    if (ended_ns == syncs.start_ns[sync]) return;  // nothing to wait for: a part of the next node
    Host& host = hosts_[syncs.thread_id[sync]];
    append(host_node(host, "before a wait", syncs.start_ns[sync]));
    host.free_ns = std::min(ended_ns, syncs.end_ns[sync]);
    chakra::Node wait = host_node(host, "wait for the device", syncs.end_ns[sync]);
    for (const Id op : edges_.sync_sources(sync)) add_dependency(wait, op);
    append(wait);
  }

  struct Stream {
    std::optional<uint64_t> node;  // of its last op
    Ns rest_ns = 0;                // as Host::rest_ns
  };

  const Trace& trace_;
  const ExportOptions& options_;
  const analysis::IssueOrder order_;
  const analysis::Edges edges_;
  Ns origin_ns_ = std::numeric_limits<Ns>::max();
  std::unordered_map<Id, analysis::Collective> collectives_;  // by its first op
  std::map<Id, Host> hosts_;                                  // by thread
  std::map<Id, Stream> streams_;
  std::unordered_map<Id, uint64_t> op_nodes_;
  uint64_t next_id_ = 0;
  std::string bytes_;
};

}  // namespace

std::string export_chakra(const Trace& trace, const ExportOptions& options) {
  return ChakraWriter(trace, options).write();
}

}  // namespace streamscope::report
