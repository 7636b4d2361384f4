// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One table of cases of CUDA's ordering rules, asked of every analysis that follows them. Rules are
// named as in docs/analysis.md.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/edges.h"
#include "analysis/happens_before.h"
#include "analysis/replay.h"
#include "analysis/wait_for.h"
#include "ordering_program.h"

namespace streamscope::analysis {
namespace {

enum Analysis { kEdges, kReplay, kWaitFor };

// Where an analysis differs on purpose.
struct Difference {
  Analysis analysis;
  const char* missing;  // "A<B C<D": it does not say so
  const char* extra;    // it says so besides
  const char* why;
};

struct Case {
  const char* name;
  void (*build)(OrderingProgram&);
  const char* ordered;  // "A<B B<C", from which A<C follows; nothing else is ordered
  std::vector<Difference> differences = {};
};

constexpr trace::Small kHtoD = 1, kDtoH = 2, kDtoD = 8, kHtoH = 9;  // op.detail of copies
constexpr trace::Small kPageable = 1, kPinned = 2, kDevice = 3, kManaged = 5;  // memory kinds
constexpr const char* kPassedOnOnce =
    "what a thread learned becomes an edge once: to its next op on another stream";
constexpr const char* kOpsOnly = "what a thread learned becomes an edge to its ops, not to records";
constexpr const char* kUnmovedRecords =
    "a record stays bound to its wait, however late its call would be";
constexpr const char* kPolls = "a query that was not asked in vain before waited for nothing";
constexpr const char* kOneBlock = "a launch is one block: its nodes keep their place in it";
constexpr const char* kOneQueue = "nodes are queued one by one";
constexpr const char* kAnyWrite = "any write may be the one";

const Case kCases[] = {
    // ---- A, H: streams
    {"A: ops of one stream are in order, those of two are not",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.op('B', a), p.op('C', b);
     },
     "A<B"},
    {"A: per-thread default streams are streams like others",
     [](OrderingProgram& p) {
       const auto a = p.stream(trace::kPerThreadStream), b = p.stream(trace::kPerThreadStream);
       p.op('A', a), p.thread(1), p.op('B', b), p.op('C', b);
     },
     "B<C"},
    {"H: a host function is an op of its stream, and not behind those of others",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.op('H', a, trace::kHostFunction), p.op('B', a);
       p.op('I', b, trace::kHostFunction);
     },
     "A<H H<B"},

    // ---- B, C: records and waits
    {"B: a record stands for what is in the stream, not for what follows",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a);
       const auto record = p.record(a);
       p.op('X', a), p.wait(b, record), p.op('B', b);
     },
     "A<X A<B"},
    {"B: a record passes on what its thread knows",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a), p.synchronize(a);
       const auto record = p.record(b);
       p.thread(1), p.wait(c, record), p.op('B', c);
     },
     "A<B",
     {{kEdges, "A<B", "", kOpsOnly}, {kReplay, "A<B", "", kUnmovedRecords}}},
    {"C: a wait holds what follows, not what came before",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a);
       const auto record = p.record(a);
       p.op('X', b), p.wait(b, record), p.op('B', b);
     },
     "A<B X<B"},
    {"C: recording again does not redirect an earlier wait",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a);
       const auto record = p.record(a);
       p.op('C', c), p.wait(b, record), p.record(c), p.op('B', b);
     },
     "A<B"},
    {"C: events order through a stream without work",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), hub = p.stream();
       p.op('A', a);
       p.wait(hub, p.record(a)), p.wait(b, p.record(hub)), p.op('B', b);
     },
     "A<B"},
    {"C: events order streams of two devices",
     [](OrderingProgram& p) {
       const auto a = p.stream();
       p.context();
       const auto b = p.stream();
       p.op('A', a), p.op('X', b), p.wait(b, p.record(a)), p.op('B', b);
     },
     "A<B X<B"},
    {"C: a wait for an event that was never recorded is nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.wait_unbound(b, trace::kNeverRecorded), p.record(a), p.op('B', b);
     },
     ""},
    {"C: a wait of unknown history orders nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.record(a), p.wait_unbound(b, trace::kUnknownHistory), p.op('B', b);
     },
     ""},
    {"C: an ambiguous wait orders nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.record(a), p.wait_unbound(b, trace::kAmbiguous), p.op('B', b);
     },
     ""},
    {"C: what is captured does not run",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a);
       const auto record = p.record_in_capture(a);
       p.wait_unbound(b, trace::kCaptured), p.op('B', b);
       p.wait(c, record), p.op('C', c);
     },
     ""},

    // ---- D: records and waits of a whole context
    {"D: a context-wide record stands for all streams of its context",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.context();
       const auto far = p.stream();
       p.op('A', a), p.op('B', b), p.op('X', far);
       const auto record = p.record_context(0);
       p.op('D', a), p.wait(c, record), p.op('C', c);
     },
     "A<C B<C A<D"},
    {"D: a context-wide record takes in the legacy stream, and what streams wait for",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(), b = p.stream(),
                  c = p.stream();
       p.context();
       const auto far = p.stream();
       p.op('L', legacy), p.op('X', far), p.wait(a, p.record(far));
       const auto record = p.record_context(0);
       p.op('B', b), p.wait(c, record), p.op('C', c);
     },
     "L<C X<C"},
    {"D: a context-wide record is no barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream);
       p.op('L', legacy), p.op('A', a), p.record_context(0), p.op('B', b);
     },
     "L<A L<B"},
    {"D: a context-wide wait holds all streams of its context",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.context();
       const auto far = p.stream(), farther = p.stream();
       p.op('A', a), p.op('X', far);
       p.wait_context(0, p.record(far));
       p.op('B', a), p.op('C', b), p.op('D', farther);
     },
     "A<B X<B X<C"},
    {"D: a context-wide wait is no barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream);
       p.context();
       const auto far = p.stream();
       p.op('L', legacy), p.op('A', a), p.op('X', far);
       p.wait_context(0, p.record(far)), p.op('B', b), p.op('M', legacy);
     },
     "L<A L<B X<B A<M B<M"},
    {"D: a context-wide wait for a context-wide record",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.wait_context(0, p.record_context(0)), p.op('B', b);
     },
     "A<B"},
    {"D: the host can wait for a context-wide record",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.context();
       const auto far = p.stream();
       p.op('A', a), p.op('X', far), p.synchronize_event(p.record_context(0)), p.op('P', b);
     },
     "A<P"},

    // ---- E: what the host learns
    {"E: synchronizing with a stream orders what its thread issues next",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream(), d = p.stream();
       p.op('A', a), p.op('B', b), p.synchronize(a), p.op('P', c);
       p.thread(1), p.op('Q', d);
     },
     "A<P"},
    {"E: and everything that it issues after that",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a), p.synchronize(a), p.op('P', b), p.op('Q', c);
     },
     "A<P A<Q",
     {{kEdges, "A<Q", "", kPassedOnOnce}}},
    {"E: synchronizing with an event covers its record, not what follows",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a);
       const auto record = p.record(a);
       p.op('X', a), p.synchronize_event(record), p.op('P', b);
     },
     "A<X A<P"},
    {"E: synchronizing with a device covers its context",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.context();
       const auto far = p.stream();
       p.op('A', a), p.op('B', b), p.op('X', far), p.synchronize_device(), p.op('P', c);
     },
     "A<P B<P"},
    {"E: a wait in the stream counts for who synchronizes with it",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a), p.wait(b, p.record(a)), p.synchronize(b), p.op('P', c);
     },
     "A<P"},
    {"E: work that others issue meanwhile is not covered",
     [](OrderingProgram& p) {
       static OrderingProgram::Id b;
       static OrderingProgram* program;
       const auto a = p.stream(), c = p.stream();
       b = p.stream(), program = &p;
       p.op('A', a), p.synchronize_device(0, [] { program->op('B', b); }), p.op('P', c);
     },
     "A<P"},
    {"E: a query that says done is a synchronization",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.query(a), p.op('P', b);
     },
     "A<P",
     {{kReplay, "A<P", "", kPolls}}},
    {"E: so is one after others that said not ready",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.query(a, false), p.query(a), p.op('P', b);
     },
     "A<P"},
    {"E: so is the query of an event",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a);
       const auto record = p.record(a);
       p.query_event(record, false), p.query_event(record), p.op('P', b);
     },
     "A<P"},
    {"E: not ready orders nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a);
       const auto record = p.record(a);
       p.query(a, false), p.query_event(record, false), p.op('P', b);
     },
     ""},

    // ---- F: the legacy default stream
    {"F: an op on the legacy stream is a barrier among blocking and per-thread streams",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream), own = p.stream(trace::kPerThreadStream),
                  free = p.stream();
       p.op('A', a), p.op('T', own), p.op('X', free), p.op('L', legacy);
       p.op('B', b), p.op('U', own), p.op('Y', free);
     },
     "A<L T<L L<B L<U X<Y"},
    {"F: streams of unknown kind take no part",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kUnknownStream);
       p.op('A', a), p.op('L', legacy), p.op('B', a);
     },
     "A<B"},
    {"F: every context has its own",
     [](OrderingProgram& p) {
       const auto a = p.stream(trace::kBlockingStream), b = p.stream(trace::kBlockingStream);
       p.context();
       const auto legacy = p.stream(trace::kLegacyStream), c = p.stream(trace::kBlockingStream);
       p.op('A', a), p.op('L', legacy), p.op('B', b), p.op('C', c);
     },
     "L<C"},
    {"F: a record on the legacy stream takes in the blocking streams and is a barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream), free = p.stream();
       p.op('A', a);
       p.wait(free, p.record(legacy)), p.op('C', free), p.op('B', b);
     },
     "A<C A<B"},
    {"F: a wait on the legacy stream holds the blocking streams and is a barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream), free = p.stream();
       p.op('X', free), p.op('A', a), p.wait(legacy, p.record(free)), p.op('B', b);
     },
     "X<B A<B"},
    {"F: so is a wait whose record is not known",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream);
       p.op('A', a), p.wait_unbound(legacy, trace::kAmbiguous), p.op('B', b);
     },
     "A<B"},
    {"F: a wait for an event that was never recorded is no barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream);
       p.op('A', a), p.wait_unbound(legacy, trace::kNeverRecorded), p.op('B', b);
     },
     ""},
    {"F: a record on a blocking stream is behind the legacy stream",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  free = p.stream();
       p.op('L', legacy), p.wait(free, p.record(a)), p.op('C', free);
     },
     "L<C"},
    {"F: who synchronizes with the legacy stream waits for the blocking streams",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  free = p.stream(), other = p.stream();
       p.op('A', a), p.op('X', free), p.synchronize(legacy), p.op('P', other);
     },
     "A<P"},
    {"F: who synchronizes with a blocking stream does not wait for the legacy stream",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  free = p.stream();
       p.op('A', a), p.op('L', legacy), p.synchronize(a), p.op('P', free);
     },
     "A<L A<P"},

    // ---- G: graphs
    {"G: nodes follow the edges of their graph, and the launch is an op of its stream",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.launch("GHIJ", "GH GI HJ IJ", a);
       p.wait(b, p.record(a)), p.op('B', a), p.op('C', b);
     },
     "A<G G<H G<I H<J I<J J<B J<C",
     {{kReplay, "G<H G<I G<J H<J I<J H<B I<B J<B H<C I<C J<C", "", kOneBlock},
      {kWaitFor, "", "H<I", kOneQueue}}},
    {"G: a launch on the legacy stream is a barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream);
       p.op('A', a), p.launch("G", "", legacy), p.op('B', a);
     },
     "A<G G<B"},

    // ---- I: stream-ordered memory
    {"I: an allocation on the legacy stream is no barrier",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream);
       p.op('A', a), p.malloc_async(legacy), p.op('B', b);
     },
     ""},
    {"I: nor does it add to a barrier before it",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  free = p.stream();
       p.op('L', legacy), p.op('X', free), p.synchronize(free), p.malloc_async(legacy);
       p.thread(1), p.op('B', a);
     },
     "L<B"},
    {"I: an allocation on a blocking stream is behind the legacy stream",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  free = p.stream();
       p.op('L', legacy), p.malloc_async(a), p.synchronize(a), p.op('P', free);
     },
     "L<P"},

    // ---- J: synchronous copies
    {"J: a copy to the host has ended when its call returns",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a), p.op('X', b), p.copy('C', a, kDtoH, kDevice), p.op('P', c);
     },
     "A<C C<P"},
    {"J: so has a copy from pinned memory",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.copy('C', a, kHtoD, kPinned), p.op('P', b);
     },
     "A<C C<P"},
    {"J: so has a copy from host to host",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.copy('C', a, kHtoH, kPageable), p.op('P', b);
     },
     "A<C C<P"},
    {"J: a copy from pageable memory promises what was before it",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.copy('C', a, kHtoD, kPageable, true), p.op('P', b);
     },
     "A<C A<P"},
    {"J: and what it had to wait for",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.op('A', a), p.wait(b, p.record(a)), p.copy('C', b, kHtoD, kPageable, true), p.op('P', c);
     },
     "A<C A<P"},
    {"J: a copy inside the device promises nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.copy('C', a, kDtoD, kDevice, true), p.op('P', b);
     },
     "A<C"},
    {"J: on the legacy stream it is a barrier, too",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream();
       p.op('A', a), p.copy('C', legacy, kDtoH, kDevice), p.op('P', b);
     },
     "A<C C<P"},
    {"J: a memset of pinned or managed memory has ended, one of device memory may run",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream(), d = p.stream();
       p.memset('A', a, kDevice, true), p.memset('M', b, kPinned), p.op('P', d);
       p.memset('N', c, kManaged), p.op('Q', d);
     },
     "M<P M<N N<Q P<Q",
     {{kEdges, "M<N", "", kPassedOnOnce}}},

    // ---- K: memory waits
    {"K: a memory wait follows its write",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a), p.memory_write('W', a, 1), p.op('X', a);
       p.memory_wait('M', b, 1), p.op('B', b);
     },
     "A<W W<X W<M M<B"},
    {"K: even if it is issued first",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.run_later(8);
       p.memory_wait('M', b, 1), p.op('B', b), p.wait(c, p.record(b)), p.op('C', c);
       p.run_later(0);
       p.op('A', a), p.memory_write('W', a, 1), p.op('X', a);
     },
     "A<W W<X W<M M<B B<C"},
    {"K: writes of two streams order nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.memory_write('V', a, 1), p.memory_write('W', c, 1), p.memory_wait('M', b, 1), p.op('B', b);
     },
     "M<B",
     {{kWaitFor, "", "V<M W<M V<B W<B", kAnyWrite}}},

    // ---- M: never an order
    {"M: allocating, freeing, destroying and loading order nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.op('A', a);
       for (trace::Small kind : {7, 8, 14, 15, 24, 25, 36}) p.call(kind);
       p.op('P', b);
     },
     ""},
};

// ---- What an analysis says.

using Pair = std::pair<char, char>;
using Pairs = std::set<Pair>;

std::string to_string(const Pairs& pairs) {
  std::string text;
  for (const auto& [from, to] : pairs) text += std::string() + from + '<' + to + ' ';
  return text;
}
Pairs parse(std::string_view text) {
  Pairs pairs;
  for (size_t i = 0; i + 2 < text.size(); i += 4) pairs.emplace(text[i], text[i + 2]);
  return pairs;
}
// With all pairs that follow.
Pairs closed(Pairs pairs) {
  for (size_t size = 0; size != pairs.size();) {
    size = pairs.size();
    const Pairs before = pairs;
    for (const auto& [a, b] : before) {
      for (const auto& [c, d] : before) {
        if (b == c) pairs.emplace(a, d);
      }
    }
  }
  return pairs;
}
template <class Ordered>
Pairs asked(const OrderingProgram& program, Ordered ordered) {
  Pairs pairs;
  for (const auto& [from_name, from] : program.ops()) {
    for (const auto& [to_name, to] : program.ops()) {
      if (from != to && ordered(from, to)) pairs.emplace(from_name, to_name);
    }
  }
  return pairs;
}

Pairs by_happens_before(const OrderingProgram& program, size_t clock_budget_bytes) {
  const Trace trace = program.trace();
  const HappensBefore before(IssueOrder(trace), {.clock_budget_bytes = clock_budget_bytes});
  return asked(program, [&](trace::Id from, trace::Id to) { return before.ordered(from, to); });
}

// Edges, and the order of streams, which they leave out.
Pairs by_edges(const OrderingProgram& program) {
  const Trace trace = program.trace();
  const IssueOrder order(trace);
  const Edges edges(order);
  std::vector<size_t> place(trace.op.size());
  for (size_t i = 0; i < order.items().size(); ++i) {
    if (order.items()[i].kind() == Issued::kOp) place[order.items()[i].id()] = i;
  }
  return closed(asked(program, [&](trace::Id from, trace::Id to) {
    if (trace.op.stream_id[from] == trace.op.stream_id[to] &&
        trace.op.api_call_id[from] != trace.op.api_call_id[to]) {
      return place[from] < place[to];
    }
    for (const trace::Edge& edge : edges.incoming(to)) {
      if (edge.from_op_id == from) return true;
    }
    return false;
  }));
}

// What starts later if an op takes longer.
Pairs by_replay(const OrderingProgram& program) {
  constexpr Ns kLonger = 1'000'000'000;
  const Trace trace = program.trace();
  const IssueOrder order(trace);
  const Replay replay(order);
  for (trace::Id op = 0; op < trace.op.size(); ++op)
    EXPECT_EQ(replay.predict({})[op].start_ns, trace.op.start_ns[op]) << "without a change";
  return asked(program, [&](trace::Id from, trace::Id to) {
    Change change;
    change.length_ns[from] = kLonger;
    const Ns start_ns = replay.predict(change)[to].start_ns;
    EXPECT_TRUE(start_ns == trace.op.start_ns[to] || start_ns > kLonger);
    return start_ns > kLonger;
  });
}

// What an op still waits for if nothing has ended but what the host knows of, which is left out.
Pairs by_wait_for(const OrderingProgram& program, Pairs& expected) {
  Trace trace = program.trace();
  std::fill(trace.op.start_ns.begin(), trace.op.start_ns.end(), kUnknownNs);
  std::fill(trace.op.end_ns.begin(), trace.op.end_ns.end(), kUnknownNs);
  trace.process.end_ns[0] = 100'000'000'000;
  trace.process.complete[0] = 0;
  // A thread that never returns makes the graph be built.
  const auto now = static_cast<Ns>(50'000'000'000);
  test::TraceBuilder blocked;
  blocked.columns() = trace;
  blocked.add(trace::HostSync{.thread_id = blocked.add(trace::Thread{.process_id = 0}),
                              .kind = trace::kDeviceSynchronize,
                              .context_id = 0,
                              .start_ns = now});
  trace = blocked.trace();
  const IssueOrder order(trace);
  const HappensBefore before(order);
  const WaitFor graph(order, before);
  std::map<trace::Id, WaitFor::Index> node_of;
  for (WaitFor::Index node = 0; node < graph.size(); ++node) {
    if (graph.node(node).kind == WaitFor::Kind::kOp) node_of[graph.node(node).id] = node;
  }
  for (const auto& [name, op] : program.ops()) {
    const bool known = before.known_to_thread(op, 0, now) || before.known_to_thread(op, 1, now);
    EXPECT_EQ(node_of.contains(op), !known) << name;
    if (known)
      std::erase_if(expected, [&](const Pair& p) { return p.first == name || p.second == name; });
  }
  return asked(program, [&](trace::Id from, trace::Id to) {
    if (!node_of.contains(from) || !node_of.contains(to)) return false;
    std::vector<WaitFor::Index> next{node_of[to]};
    std::set<WaitFor::Index> seen;
    while (!next.empty()) {
      const WaitFor::Index node = next.back();
      next.pop_back();
      if (!seen.insert(node).second) continue;
      for (const WaitFor::Link& link : graph.links(node)) next.push_back(link.to);
    }
    return seen.contains(node_of[from]);
  });
}

Pairs expected_of(const Case& one, Analysis analysis) {
  Pairs expected = closed(parse(one.ordered));
  for (const Difference& difference : one.differences) {
    if (difference.analysis != analysis) continue;
    for (const Pair& pair : parse(difference.missing)) EXPECT_EQ(expected.erase(pair), 1u);
    for (const Pair& pair : parse(difference.extra)) EXPECT_TRUE(expected.insert(pair).second);
  }
  return expected;
}

TEST(OrderingCases, HappensBeforeFollowsTheRules) {
  for (const Case& one : kCases) {
    OrderingProgram program;
    one.build(program);
    const Pairs expected = closed(parse(one.ordered));
    EXPECT_EQ(to_string(by_happens_before(program, 1 << 20)), to_string(expected)) << one.name;
    EXPECT_EQ(to_string(by_happens_before(program, 0)), to_string(expected)) << one.name;
  }
}

TEST(OrderingCases, EdgesFollowTheRules) {
  for (const Case& one : kCases) {
    OrderingProgram program;
    one.build(program);
    EXPECT_EQ(to_string(by_edges(program)), to_string(expected_of(one, kEdges))) << one.name;
  }
}

TEST(OrderingCases, ReplayFollowsTheRules) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    OrderingProgram program;
    one.build(program);
    EXPECT_EQ(to_string(by_replay(program)), to_string(expected_of(one, kReplay)));
  }
}

TEST(OrderingCases, TheWaitForGraphFollowsTheRules) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    OrderingProgram program;
    one.build(program);
    Pairs expected = expected_of(one, kWaitFor);
    const Pairs found = by_wait_for(program, expected);
    EXPECT_EQ(to_string(found), to_string(expected));
  }
}

}  // namespace
}  // namespace streamscope::analysis
