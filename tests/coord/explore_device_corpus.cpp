// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/explore_corpus.h"

namespace corpus {

namespace {

using coord::Event;
using coord::HostBuffer;
using coord::Stream;
using coord::sim::FindingKind;
using coord::sim::Run;

void missing_wait(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  const Event done = device.create_event();
  set(producer, a.data(), 1);
  producer.record(done);
  if (repaired) consumer.wait(done);
  move(consumer, b.data(), a.data());
  device.synchronize();
}

void wait_before_record(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  const Event done = device.create_event();
  if (!repaired) consumer.wait(done);
  set(producer, a.data(), 1);
  producer.record(done);
  if (repaired) consumer.wait(done);
  move(consumer, b.data(), a.data());
  device.synchronize();
}

void wait_for_another_event(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device), c(device);
  const Stream first = device.create_stream(), second = device.create_stream();
  const Stream consumer = device.create_stream();
  const Event first_done = device.create_event(), second_done = device.create_event();
  set(first, a.data(), 1);
  first.record(first_done);
  set(second, b.data(), 2);
  second.record(second_done);
  consumer.wait(repaired ? first_done : second_done);
  move(consumer, c.data(), a.data());
  device.synchronize();
}

void record_before_the_work(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  const Event done = device.create_event();
  if (!repaired) producer.record(done);
  set(producer, a.data(), 1);
  if (repaired) producer.record(done);
  consumer.wait(done);
  move(consumer, b.data(), a.data());
  device.synchronize();
}

void one_event_for_many_streams(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device), sum(device);
  const Stream first = device.create_stream(), second = device.create_stream();
  const Stream joined = device.create_stream();
  const Event done = device.create_event(), other = device.create_event();
  set(first, a.data(), 1);
  first.record(repaired ? other : done);
  set(second, b.data(), 2);
  second.record(done);
  joined.wait(done);
  if (repaired) joined.wait(other);
  move(joined, sum.data(), a.data());
  move(joined, sum.data(), b.data());
  device.synchronize();
}

void fork_without_join(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device), c(device);
  const Stream main = device.create_stream(), left = device.create_stream();
  const Stream right = device.create_stream();
  const Event fork = device.create_event(), left_done = device.create_event();
  const Event right_done = device.create_event();
  set(main, a.data(), 1);
  main.record(fork);
  left.wait(fork);
  right.wait(fork);
  move(left, b.data(), a.data());
  move(right, c.data(), a.data());
  left.record(left_done);
  right.record(right_done);
  main.wait(left_done);
  if (repaired) main.wait(right_done);
  set(main, b.data(), 0);
  set(main, c.data(), 0);
  main.synchronize();
}

void double_buffer_without_the_way_back(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers buffer(device), out(device);
  const Stream fills = device.create_stream(), drains = device.create_stream();
  const Event full = device.create_event(), empty = device.create_event();
  for (int i = 0; i < 2; ++i) {
    if (repaired) fills.wait(empty);
    set(fills, buffer.data(), static_cast<float>(i));
    fills.record(full);
    drains.wait(full);
    move(drains, out.data(), buffer.data());
    drains.record(empty);
  }
  device.synchronize();
}

void memset_in_another_stream(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const Stream clears = device.create_stream(), works = device.create_stream();
  const Stream& first = repaired ? works : clears;
  first.memset(a.data(), 0, 16);
  set(works, a.data(), 1);
  device.synchronize();
}

void circular_memory_waits(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flags = device.allocate_host<std::uint64_t>(2);
  const Stream left = device.create_stream({.name = "left"});
  const Stream right = device.create_stream({.name = "right"});
  if (repaired) left.write_value(&flags[0], 1);
  left.wait_value(&flags[1], 1);
  if (!repaired) left.write_value(&flags[0], 1);
  right.wait_value(&flags[0], 1);
  right.write_value(&flags[1], 1);
  left.synchronize();
}

void circular_timelines_of_three(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> points = device.allocate_host<std::uint64_t>(3);
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(device.create_stream());
  for (std::size_t i = 0; i < 3; ++i) {
    if (!repaired || i > 0) streams[i].wait_value(&points[(i + 2) % 3], 1);
    streams[i].write_value(&points[i], 1);
  }
  device.synchronize();
}

void signal_before_the_work(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const HostBuffer<std::uint64_t> flag = device.allocate_host<std::uint64_t>(1);
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  if (!repaired) producer.write_value(flag.data(), 1);
  set(producer, a.data(), 1);
  if (repaired) producer.write_value(flag.data(), 1);
  consumer.wait_value(flag.data(), 1);
  move(consumer, b.data(), a.data());
  device.synchronize();
}

void wait_for_an_earlier_point(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const HostBuffer<std::uint64_t> line = device.allocate_host<std::uint64_t>(1);
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  producer.write_value(line.data(), 1);
  set(producer, a.data(), 2);
  producer.write_value(line.data(), 2);
  consumer.wait_value(line.data(), repaired ? 2 : 1);
  move(consumer, b.data(), a.data());
  device.synchronize();
}

void barrier_reused_too_early(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const HostBuffer<std::uint64_t> arrived = device.allocate_host<std::uint64_t>(2);
  const Stream left = device.create_stream(), right = device.create_stream();
  for (std::uint64_t round = 1; round <= 3; ++round) {
    // A round that waits for the value of the first passes at once.
    const std::uint64_t value = repaired ? round : 1;
    float* const mine = round % 2 == 1 ? a.data() : b.data();
    float* const its = round % 2 == 1 ? b.data() : a.data();
    set(left, mine, 1);
    left.write_value(&arrived[0], value);
    left.wait_value(&arrived[1], value);
    set(right, its, 2);
    right.write_value(&arrived[1], value);
    right.wait_value(&arrived[0], value);
  }
  device.synchronize();
}

void value_taken_back(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flag = device.allocate_host<std::uint64_t>(1);
  const Stream signals = device.create_stream(), waits = device.create_stream();
  signals.write_value(flag.data(), 1);
  if (!repaired) signals.write_value(flag.data(), 0);
  waits.wait_value(flag.data(), 1);
  device.synchronize();
}

void use_after_release_in_another_stream(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream owner = device.create_stream(), user = device.create_stream();
  const Event ready = device.create_event(), used = device.create_event();
  auto* const memory = static_cast<float*>(owner.allocate_async(16));
  owner.record(ready);
  user.wait(ready);
  set(user, memory, 1);
  user.record(used);
  if (repaired) owner.wait(used);
  owner.free_async(memory);
  device.synchronize();
}

void release_in_another_stream(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream owner = device.create_stream(), frees = device.create_stream();
  const Event used = device.create_event();
  auto* const memory = static_cast<float*>(owner.allocate_async(16));
  if (!repaired) owner.record(used);
  set(owner, memory, 1);
  if (repaired) owner.record(used);
  frees.wait(used);
  frees.free_async(memory);
  device.synchronize();
}

void use_before_the_allocation(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream owner = device.create_stream(), user = device.create_stream();
  const Event ready = device.create_event();
  auto* const memory = static_cast<float*>(owner.allocate_async(16));
  owner.record(ready);
  if (repaired) user.wait(ready);
  set(user, memory, 1);
  device.synchronize();
}

void use_after_release_in_order(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  auto* const memory = static_cast<float*>(stream.allocate_async(16));
  if (!repaired) stream.free_async(memory);
  set(stream, memory, 1);
  if (repaired) stream.free_async(memory);
  stream.synchronize();
}

void released_twice(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  void* const memory = stream.allocate_async(16);
  stream.free_async(memory);
  if (!repaired) stream.free_async(memory);
  stream.synchronize();
}

void legacy_stream_taken_for_a_barrier(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream stream = device.create_stream({.non_blocking = !repaired});
  set(stream, a.data(), 1);
  move(device.legacy_stream(), b.data(), a.data());
  device.synchronize();
}

void non_blocking_stream_behind_legacy(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream stream = device.create_stream({.non_blocking = !repaired});
  set(device.legacy_stream(), a.data(), 1);
  move(stream, b.data(), a.data());
  device.synchronize();
}

void per_thread_stream_taken_for_a_barrier(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream stream = device.create_stream({.non_blocking = false});
  set(stream, a.data(), 1);
  const coord::StreamRef follows = repaired ? device.legacy_stream() : device.per_thread_stream();
  move(follows, b.data(), a.data());
  device.synchronize();
}

void legacy_synchronized_for_a_non_blocking_stream(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream();
  stream.copy_to_host(host.data(), a.data(), 16);
  if (repaired) {
    stream.synchronize();
  } else {
    device.legacy_stream().synchronize();
  }
  run.reads(host.data(), 16);
}

void result_read_without_synchronizing(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream();
  set(stream, a.data(), 3);
  stream.copy_to_host(host.data(), a.data(), 16);
  if (repaired) stream.synchronize();
  run.result(std::span<const float>(host));
}

void source_changed_while_it_is_copied(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream();
  const Event copied = device.create_event();
  stream.copy_to_device(a.data(), host.data(), 16);
  stream.record(copied);
  if (repaired) copied.synchronize();
  run.writes(host.data(), 16);
  host[0] = 7;
  stream.synchronize();
}

void another_stream_synchronized(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream(), other = device.create_stream();
  stream.copy_to_host(host.data(), a.data(), 16);
  (repaired ? stream : other).synchronize();
  run.reads(host.data(), 16);
}

void query_not_heeded(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream();
  const Event done = device.create_event();
  stream.copy_to_host(host.data(), a.data(), 16);
  stream.record(done);
  bool ready = done.query();
  while (repaired && !ready) ready = done.query();
  run.reads(host.data(), 16);
}

void event_recorded_again_before_the_query(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream(), other = device.create_stream();
  const Event done = device.create_event(), spare = device.create_event();
  stream.copy_to_host(host.data(), a.data(), 16);
  stream.record(done);
  other.record(repaired ? spare : done);
  done.synchronize();
  run.reads(host.data(), 16);
}

void peer_copy_not_waited_for(Run& run, bool repaired) {
  const auto& first = run.device(0);
  const auto& second = run.device(1);
  const Numbers from(first), to(second);
  const Stream copies = first.create_stream(), uses = second.create_stream();
  const Event copied = first.create_event();
  set(copies, from.data(), 4);
  copies.copy_peer(second, to.data(), first, from.data(), 16);
  copies.record(copied);
  if (repaired) uses.wait(copied);
  set(uses, to.data(), 5);
  second.synchronize();
}

}  // namespace

const std::vector<Case>& device_cases() {
  static const std::vector<Case> kCases{
      {"MissingWait", FindingKind::kRace, missing_wait},
      {"WaitBeforeRecord", FindingKind::kRace, wait_before_record},
      {"WaitForAnotherEvent", FindingKind::kRace, wait_for_another_event},
      {"RecordBeforeTheWork", FindingKind::kRace, record_before_the_work},
      {"OneEventForManyStreams", FindingKind::kRace, one_event_for_many_streams},
      {"ForkWithoutJoin", FindingKind::kRace, fork_without_join},
      {"DoubleBufferWithoutTheWayBack", FindingKind::kRace, double_buffer_without_the_way_back},
      {"MemsetInAnotherStream", FindingKind::kRace, memset_in_another_stream},
      {"CircularMemoryWaits", FindingKind::kDeadlock, circular_memory_waits},
      {"CircularTimelinesOfThree", FindingKind::kDeadlock, circular_timelines_of_three},
      {"SignalBeforeTheWork", FindingKind::kRace, signal_before_the_work},
      {"WaitForAnEarlierPoint", FindingKind::kRace, wait_for_an_earlier_point},
      {"BarrierReusedTooEarly", FindingKind::kRace, barrier_reused_too_early},
      {"ValueTakenBack", FindingKind::kDeadlock, value_taken_back},
      {"UseAfterReleaseInAnotherStream", FindingKind::kRace, use_after_release_in_another_stream},
      {"ReleaseInAnotherStream", FindingKind::kRace, release_in_another_stream},
      {"UseBeforeTheAllocation", FindingKind::kRace, use_before_the_allocation},
      {"UseAfterReleaseInOrder", FindingKind::kFailure, use_after_release_in_order},
      {"ReleasedTwice", FindingKind::kFailure, released_twice},
      {"LegacyStreamTakenForABarrier", FindingKind::kRace, legacy_stream_taken_for_a_barrier},
      {"NonBlockingStreamBehindLegacy", FindingKind::kRace, non_blocking_stream_behind_legacy},
      {"PerThreadStreamTakenForABarrier", FindingKind::kRace,
       per_thread_stream_taken_for_a_barrier},
      {"LegacySynchronizedForANonBlockingStream", FindingKind::kRace,
       legacy_synchronized_for_a_non_blocking_stream},
      {"ResultReadWithoutSynchronizing", FindingKind::kRace, result_read_without_synchronizing},
      {"SourceChangedWhileItIsCopied", FindingKind::kRace, source_changed_while_it_is_copied},
      {"AnotherStreamSynchronized", FindingKind::kRace, another_stream_synchronized},
      {"QueryNotHeeded", FindingKind::kRace, query_not_heeded},
      {"EventRecordedAgainBeforeTheQuery", FindingKind::kRace,
       event_recorded_again_before_the_query},
      {"PeerCopyNotWaitedFor", FindingKind::kRace, peer_copy_not_waited_for, {.devices = 2}},
  };
  return kCases;
}

}  // namespace corpus
