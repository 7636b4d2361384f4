// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "timeline/graph_layout.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

// Copies, then three kernels that wait for the first copy, then a copy back.
TraceModel copies_and_kernels() {
  test::TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math")
      .wait("loaded")
      .kernel("gemm", 210, 350)
      .kernel("relu", 360, 400)
      .kernel("relu", 410, 450)
      .record("done");
  builder.stream("results").wait("done").memcpy(test::kDtoH, 460, 500);
  return TraceModel(builder.trace());
}

TEST(LayOutGraph, MergesOpsThatNoEdgeSeparates) {
  const TraceModel model = copies_and_kernels();
  const GraphLayout graph = lay_out_graph(model);
  ASSERT_EQ(graph.nodes.size(), 3u);
  const GraphNode& math = graph.nodes[graph.node_of[1]];
  EXPECT_EQ(math.count, 3u);
  EXPECT_EQ(math.first_op, 1u);
  EXPECT_EQ(math.last_op, 3u);
  EXPECT_EQ(math.time, (TimeRange{210, 450}));
}

TEST(LayOutGraph, PutsSuccessorsIntoALaterLayer) {
  const TraceModel model = copies_and_kernels();
  const GraphLayout graph = lay_out_graph(model);
  EXPECT_EQ(graph.layer_count(), 3u);
  ASSERT_EQ(graph.edges.size(), 2u);
  for (const GraphEdge& edge : graph.edges) {
    EXPECT_EQ(edge.kind, trace::kEventEdge);
    EXPECT_LT(graph.nodes[edge.from].layer, graph.nodes[edge.to].layer);
  }
  EXPECT_EQ(graph.lanes.size(), 3u);
}

TEST(LayOutGraph, MarksTheCriticalPath) {
  const TraceModel model = copies_and_kernels();
  for (const GraphNode& node : lay_out_graph(model).nodes) EXPECT_TRUE(node.on_path);
}

// Two phases of one job, and an operation that belongs to none.
TEST(LayOutGraph, ShowsOnlyTheOperationsOfAGroup) {
  test::TraceBuilder builder;
  std::vector<Id> operations;
  test::StreamBuilder a = builder.stream("a"), b = builder.stream("b");
  const Id job = builder.operation("job", a);
  const auto group = [&](const char* name, Id parent) {
    const Id id = builder.operation(name, a);
    builder.columns().operation.parent_operation_id[id] = parent;
    return id;
  };
  const Id first = group("phase 1", job), second = group("phase 2", job);
  const auto work = [&](test::StreamBuilder& stream, Id parent, Ns at) {
    const Id id = builder.operation("step", stream);
    builder.columns().operation.parent_operation_id[id] = parent;
    const Id op = static_cast<Id>(builder.columns().op.size());
    stream.kernel("k", at, at + 5);
    builder.add(trace::OperationOp{.operation_id = id, .op_id = op});
  };
  work(a, first, 10);
  work(b, first, 20);
  work(b, second, 30);
  work(a, kNoId, 40);
  const TraceModel model(builder.trace());
  ASSERT_EQ(model.items().groups().size(), 3u);
  EXPECT_EQ(model.items().groups()[0].operation, job);
  EXPECT_EQ(model.items().groups()[0].members, 5u);  // both phases and their three steps
  const auto ops_of = [&](Id of) {
    const GraphLayout graph = lay_out_graph(model, {.group = of});
    std::vector<Id> ops;
    for (Id op = 0; op < graph.node_of.size(); ++op) {
      if (graph.node_of[op] != GraphLayout::kNoNode) ops.push_back(op);
    }
    return ops;
  };
  EXPECT_EQ(ops_of(first), (std::vector<Id>{0, 1}));
  EXPECT_EQ(ops_of(second), (std::vector<Id>{2}));
  EXPECT_EQ(ops_of(job), (std::vector<Id>{0, 1, 2}));
  EXPECT_EQ(ops_of(kNoId).size(), 4u);
  EXPECT_EQ(lay_out_graph(model, {.group = second}).lanes.size(), 1u);
}

TEST(LayOutGraph, TerminatesForGroupsThatContainThemselves) {
  test::TraceBuilder builder;
  test::StreamBuilder a = builder.stream("a");
  const Id odd = builder.operation("odd", a);
  builder.columns().operation.parent_operation_id[odd] = odd;
  a.kernel("k", 0, 5);
  builder.add(trace::OperationOp{.operation_id = odd, .op_id = 0});
  const TraceModel model(builder.trace());
  EXPECT_EQ(lay_out_graph(model, {.group = odd}).nodes.size(), 1u);
}

TEST(LayOutGraph, PutsNoTwoNodesInOnePlace) {
  test::TraceBuilder builder;
  for (int i = 0; i < 40; ++i) {
    test::StreamBuilder stream = builder.stream("worker " + std::to_string(i % 8));
    if (i > 0) stream.wait("event " + std::to_string(i - 1));
    stream.kernel("stage", i * 10, i * 10 + 5).record("event " + std::to_string(i));
  }
  const TraceModel model(builder.trace());
  const GraphLayout graph = lay_out_graph(model);
  EXPECT_EQ(graph.nodes.size(), 40u);
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    EXPECT_LT(std::pair(graph.nodes[i - 1].layer, graph.nodes[i - 1].row),
              std::pair(graph.nodes[i].layer, graph.nodes[i].row));
  }
  EXPECT_EQ(graph.first_of_layer.back(), graph.nodes.size());
}

TEST(LayOutGraph, KeepsOnlyWhatRanOrWasIssuedInARange) {
  const TraceModel model = copies_and_kernels();
  const GraphLayout early = lay_out_graph(model, {.within = TimeRange{100, 300}});
  ASSERT_EQ(early.nodes.size(), 2u);
  EXPECT_EQ(early.nodes[early.node_of[1]].count, 1u);  // gemm without later work
  EXPECT_EQ(early.node_of[4], GraphLayout::kNoNode);
  EXPECT_EQ(early.edges.size(), 1u);
  EXPECT_EQ(early.lanes.size(), 2u);
  test::TraceBuilder builder;
  builder.at(10);
  builder.stream("math").kernel("issued at 10", 500, 600);
  const TraceModel issued(builder.trace());
  const TimeRange call = *issued.items().time(issued.items().call_of(0));
  ASSERT_LT(call.end_ns, 500);
  EXPECT_EQ(lay_out_graph(issued, {.within = call}).nodes.size(), 1u);
  EXPECT_TRUE(lay_out_graph(issued, {.within = TimeRange{700, 800}}).nodes.empty());
}

TEST(LayOutGraph, KeepsOnlyTheStreamsOfAFilter) {
  const TraceModel model = copies_and_kernels();
  GraphFilter filter;
  for (const Lane& lane : model.lanes()) filter.lanes.push_back(lane.title != "copies");
  const GraphLayout graph = lay_out_graph(model, filter);
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.node_of[0], GraphLayout::kNoNode);
  EXPECT_EQ(graph.edges.size(), 1u);
}

TEST(LayOutGraph, IsEmptyForAnEmptyTrace) {
  const TraceModel model{trace::Trace{}};
  EXPECT_TRUE(lay_out_graph(model).nodes.empty());
  EXPECT_EQ(lay_out_graph(model).layer_count(), 0u);
}

}  // namespace
}  // namespace streamscope::viewer
