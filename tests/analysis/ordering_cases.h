// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The table of cases of CUDA's ordering rules, on which ordering_cases_test.cpp tests every
// analysis that follows them. Rules are named as in docs/analysis.md.
#pragma once

#include <vector>

#include "memory_places.h"
#include "ordering_program.h"

namespace streamscope::analysis {

/// The analyses that follow the rules besides happens-before, which follows all of them.
enum class Analysis { kEdges, kReplay, kWaitFor };

/// Where an analysis differs by design.
struct OrderingDifference {
  Analysis analysis;
  const char* missing;  ///< "A<B C<D": it does not report these
  const char* extra;    ///< it also reports these
  const char* why;
};

struct OrderingCase {
  const char* name;
  void (*build)(OrderingProgram&);
  const char* ordered;  ///< "A<B B<C", from which A<C follows; nothing else is ordered
  std::vector<OrderingDifference> differences = {};
};

using test::kDtoD;
using test::kDtoH;
using test::kHtoD;
inline constexpr trace::Small kHtoH = 9;  // op.detail of a copy
inline constexpr const char* kPassedOnOnce =
    "what a thread learned becomes an edge once: to its next op on another stream";
inline constexpr const char* kOpsOnly =
    "what a thread learned becomes an edge to its ops, not to records";
inline constexpr const char* kUnmovedRecords =
    "a record stays bound to its wait, however late its call would be";
inline constexpr const char* kPolls = "a query that was never not ready waited for nothing";
inline constexpr const char* kOneBlock = "a launch is one block: its nodes keep their place in it";
inline constexpr const char* kOneQueue = "nodes are queued one by one";
inline constexpr const char* kAnyWrite = "any write may be the one";

inline const OrderingCase kOrderingCases[] = {
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
     {{Analysis::kEdges, "A<B", "", kOpsOnly}, {Analysis::kReplay, "A<B", "", kUnmovedRecords}}},
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
     {{Analysis::kEdges, "A<Q", "", kPassedOnOnce}}},
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
     {{Analysis::kReplay, "A<P", "", kPolls}}},
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
     {{Analysis::kReplay, "G<H G<I G<J H<J I<J H<B I<B J<B H<C I<C J<C", "", kOneBlock},
      {Analysis::kWaitFor, "", "H<I", kOneQueue}}},
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
     {{Analysis::kEdges, "M<N", "", kPassedOnOnce}}},

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
    {"K: what the legacy stream holds back comes after the write, too",
     [](OrderingProgram& p) {
       const auto legacy = p.stream(trace::kLegacyStream), a = p.stream(trace::kBlockingStream),
                  b = p.stream(trace::kBlockingStream), free = p.stream();
       p.run_later(8);
       p.memory_wait('M', a, 1), p.op('L', legacy), p.op('B', b);
       p.run_later(0);
       p.op('A', free), p.memory_write('W', free, 1);
     },
     "A<W W<M M<L L<B"},
    {"K: so does what a context-wide wait holds back",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.context();
       const auto far = p.stream();
       p.run_later(8);
       p.memory_wait('M', a, 1), p.wait_context(0, p.record(a)), p.op('B', b);
       p.run_later(0);
       p.op('A', far), p.memory_write('W', far, 1), p.op('C', far);
     },
     "A<W W<M M<B W<C"},
    {"K: a context-wide wait that one stream holds back still holds the others",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream();
       p.context();
       const auto far = p.stream(), farther = p.stream();
       p.op('X', far);
       p.run_later(8);
       p.memory_wait('M', a, 1), p.wait_context(0, p.record(far)), p.op('B', b);
       p.run_later(0);
       p.memory_write('W', farther, 1);
     },
     "X<B W<M"},
    {"K: writes of two streams order nothing",
     [](OrderingProgram& p) {
       const auto a = p.stream(), b = p.stream(), c = p.stream();
       p.memory_write('V', a, 1), p.memory_write('W', c, 1), p.memory_wait('M', b, 1), p.op('B', b);
     },
     "M<B",
     {{Analysis::kWaitFor, "", "V<M W<M V<B W<B", kAnyWrite}}},

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

}  // namespace streamscope::analysis
