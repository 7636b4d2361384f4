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

void event_shared_by_two_threads(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device), c(device), d(device);
  const Event shared = device.create_event(), own = device.create_event();
  const Stream first = device.create_stream(), first_after = device.create_stream();
  const Stream second = device.create_stream(), second_after = device.create_stream();
  const auto pass = [](const Stream& from, const Stream& to, const Event& event, float* at,
                       float* next) {
    set(from, at, 1);
    from.record(event);
    to.wait(event);
    move(to, next, at);
  };
  run.thread([&] { pass(second, second_after, repaired ? own : shared, c.data(), d.data()); });
  pass(first, first_after, shared, a.data(), b.data());
  run.join();
  device.synchronize();
}

void host_waits_before_it_signals(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flag = device.allocate_host<std::uint64_t>(1);
  const Stream stream = device.create_stream();
  stream.wait_value(flag.data(), 1);
  if (repaired) flag[0] = 1;
  stream.synchronize();
  flag[0] = 1;
}

void threads_wait_for_each_others_streams(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flags = device.allocate_host<std::uint64_t>(2);
  const Stream left = device.create_stream(), right = device.create_stream();
  left.wait_value(&flags[0], 1);
  right.wait_value(&flags[1], 1);
  run.thread([&] {
    if (repaired) flags[0] = 1;
    right.synchronize();
    flags[0] = 1;
  });
  left.synchronize();
  flags[1] = 1;
  run.join();
}

void host_function_waits_for_its_own_stream(Run& run, bool repaired) {
  bool ended = false;
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  stream.host_function([&] { run.wait_until([&] { return ended; }); });
  if (repaired) ended = true;
  stream.synchronize();
  ended = true;
}

void host_function_waits_for_another(Run& run, bool repaired) {
  bool ready = false;
  const auto& device = run.device();
  const Stream waits = device.create_stream(), signals = device.create_stream();
  const Event signalled = device.create_event();
  if (repaired) {
    signals.host_function([&] { ready = true; });
    signals.record(signalled);
    waits.wait(signalled);
  }
  waits.host_function([&] { run.wait_until([&] { return ready; }); });
  if (!repaired) signals.host_function([&] { ready = true; });
  device.synchronize();
}

void host_function_calls_the_device(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream stream = device.create_stream(), other = device.create_stream();
  stream.host_function([&] {
    if (!repaired) other.synchronize();
  });
  stream.synchronize();
  other.synchronize();
}

void lock_held_while_waiting_for_who_needs_it(Run& run, bool repaired) {
  bool locked = false;
  const auto lock = [&] {
    run.wait_until([&] { return !locked; });
    locked = true;
  };
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  lock();
  stream.host_function([&] {
    lock();
    locked = false;
  });
  if (repaired) locked = false;
  stream.synchronize();
  locked = false;
}

void locks_taken_in_opposite_order(Run& run, bool repaired) {
  bool first = false, second = false;
  const auto lock = [&](bool& which) {
    run.wait_until([&] { return !which; });
    which = true;
  };
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  run.thread([&] {
    bool& one = repaired ? first : second;
    bool& other = repaired ? second : first;
    lock(one);
    lock(other);
    one = other = false;
  });
  lock(first);
  lock(second);
  first = second = false;
  run.join();
  stream.synchronize();
}

void lost_signal(Run& run, bool repaired) {
  bool signalled = false;
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  run.thread([&] {
    stream.launch({});
    stream.synchronize();
    run.step();
    signalled = true;  // wakes current waiters
    run.step();
    if (!repaired) signalled = false;  // but no later ones
  });
  run.wait_until([&] { return signalled; });
  run.join();
}

void results_of_a_thread_taken_for_ended(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const HostBuffer<float> host = device.allocate_host<float>(4);
  const Stream stream = device.create_stream();
  run.thread([&] {
    stream.copy_to_host(host.data(), a.data(), 16);
    if (repaired) stream.synchronize();
  });
  run.join();  // the thread has ended, but not its copy
  run.reads(host.data(), 16);
  stream.synchronize();
}

void order_of_threads_taken_for_granted(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream stream = device.create_stream();
  HostBuffer<float> host = device.allocate_host<float>(4);
  stream.memset(a.data(), 0, 16);
  run.thread([&] { set(stream, a.data(), 1); });
  if (repaired) run.join();
  stream.copy_to_host(host.data(), a.data(), 16);
  run.join();
  stream.synchronize();
  run.result(std::span<const float>(host));
}

void sum_that_depends_on_the_order(Run& run, bool repaired) {
  double value = 1;
  const auto& device = run.device();
  const Stream adds = device.create_stream(), doubles = device.create_stream();
  const Event added = device.create_event();
  const HostBuffer<float> alive = device.allocate_host<float>(1);
  adds.launch({.name = "add", .function = [&value] { value += 3; }});
  adds.record(added);
  if (repaired) doubles.wait(added);
  doubles.launch({.name = "double", .function = [&value] { value *= 2; }});
  device.synchronize();
  run.result(value);
}

void event_query_decides_what_is_computed(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  const Event event = device.create_event();
  stream.launch({.duration = coord::Nanoseconds(10)});
  stream.record(event);
  if (repaired) event.synchronize();
  run.result(event.query() ? 1 : 2);
  stream.synchronize();
}

void all_connections_blocked(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flag = device.allocate_host<std::uint64_t>(1);
  std::vector<Stream> streams;
  const int blocked = repaired ? 1 : 3;
  for (int i = 0; i < blocked; ++i) {
    streams.push_back(device.create_stream());
    streams.back().wait_value(flag.data(), 1);
    streams.back().launch({.name = "behind"});
  }
  const Stream releases = device.create_stream({.name = "releases"});
  releases.launch({.name = "before"});
  releases.write_value(flag.data(), 1);
  device.synchronize();
}

void spinning_kernel_fills_the_device(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flag = device.allocate_host<std::uint64_t>(1);
  const Stream spins = device.create_stream(), releases = device.create_stream();
  spins.launch({.name = "spin",
                .blocks = repaired ? 1u : 2u,
                .blocks_per_sm = 1,
                .spin_address = flag.data(),
                .spin_value = 1});
  releases.launch({.name = "work", .blocks_per_sm = 1});
  releases.write_value(flag.data(), 1);
  device.synchronize();
}

void stream_filled_before_it_is_released(Run& run, bool repaired) {
  const auto& device = run.device();
  const HostBuffer<std::uint64_t> flag = device.allocate_host<std::uint64_t>(1);
  const Stream stream = device.create_stream();
  stream.wait_value(flag.data(), 1);
  if (repaired) flag[0] = 1;
  for (int i = 0; i < 4; ++i) stream.launch({});
  flag[0] = 1;
  stream.synchronize();
}

void graph_beside_its_input(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream stream = device.create_stream(), producer = device.create_stream();
  const Event produced = device.create_event();
  stream.begin_capture();
  move(stream, b.data(), a.data());
  const coord::ExecutableGraph graph = stream.end_capture().instantiate();
  set(producer, a.data(), 2);
  producer.record(produced);
  if (repaired) stream.wait(produced);
  graph.launch(stream);
  device.synchronize();
}

void branches_of_a_graph_touch_the_same(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const Stream main = device.create_stream(), side = device.create_stream();
  const Event fork = device.create_event(), join = device.create_event();
  main.begin_capture();
  main.record(fork);
  side.wait(fork);
  set(side, a.data(), 1);
  side.record(join);
  if (repaired) main.wait(join);
  set(main, a.data(), 2);
  if (!repaired) main.wait(join);
  const coord::ExecutableGraph graph = main.end_capture().instantiate();
  graph.launch(main);
  device.synchronize();
}

void synchronizing_inside_a_capture(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device);
  const Stream stream = device.create_stream();
  stream.begin_capture();
  set(stream, a.data(), 1);
  if (!repaired) stream.synchronize();
  const coord::ExecutableGraph graph = stream.end_capture().instantiate();
  graph.launch(stream);
  stream.synchronize();
}

void poller_breaks_the_capture_of_another_thread(Run& run, bool repaired) {
  const auto& device = run.device();
  const Event event = device.create_event();
  const Stream stream = device.create_stream();
  run.thread([&] {
    if (repaired) device.exchange_capture_mode(coord::CaptureMode::kRelaxed);
    try {
      (void)event.query();
    } catch (const coord::Error&) {  // the capturing thread is notified
    }
  });
  stream.begin_capture();
  stream.launch({});
  try {
    (void)stream.end_capture();
  } catch (const coord::Error&) {
    run.check(false, "the capture succeeds");
  }
  run.join();
}

void failed_record_not_noticed(Run& run, bool repaired) {
  const auto& device = run.device();
  const Numbers a(device), b(device);
  const Stream producer = device.create_stream(), consumer = device.create_stream();
  const Event done = device.create_event();
  set(producer, a.data(), 1);
  try {
    producer.record(done);  // fails, by injection
  } catch (const coord::Error&) {
    if (repaired) producer.synchronize();
  }
  consumer.wait(done);
  move(consumer, b.data(), a.data());
  device.synchronize();
}

void failed_kernel_not_noticed(Run& run, bool repaired) {
  const auto& device = run.device();
  const Stream stream = device.create_stream();
  stream.launch({.name = "faulty", .function = [repaired] {
                   if (!repaired) throw std::runtime_error("index out of range");
                 }});
  (void)stream.capture_status();
}

}  // namespace

const std::vector<Case>& host_cases() {
  static const std::vector<Case> kCases{
      {"EventSharedByTwoThreads", FindingKind::kRace, event_shared_by_two_threads},
      {"HostWaitsBeforeItSignals", FindingKind::kDeadlock, host_waits_before_it_signals},
      {"ThreadsWaitForEachOthersStreams", FindingKind::kDeadlock,
       threads_wait_for_each_others_streams},
      {"HostFunctionWaitsForItsOwnStream", FindingKind::kDeadlock,
       host_function_waits_for_its_own_stream},
      {"HostFunctionWaitsForAnother", FindingKind::kDeadlock, host_function_waits_for_another},
      {"HostFunctionCallsTheDevice", FindingKind::kFailure, host_function_calls_the_device},
      {"LockHeldWhileWaitingForWhoNeedsIt", FindingKind::kDeadlock,
       lock_held_while_waiting_for_who_needs_it},
      {"LocksTakenInOppositeOrder", FindingKind::kDeadlock, locks_taken_in_opposite_order},
      {"LostSignal", FindingKind::kDeadlock, lost_signal},
      {"ResultsOfAThreadTakenForEnded", FindingKind::kRace, results_of_a_thread_taken_for_ended},
      {"OrderOfThreadsTakenForGranted", FindingKind::kOrderDependence,
       order_of_threads_taken_for_granted},
      {"SumThatDependsOnTheOrder", FindingKind::kOrderDependence, sum_that_depends_on_the_order},
      {"EventQueryDecidesWhatIsComputed", FindingKind::kOrderDependence,
       event_query_decides_what_is_computed},
      {"AllConnectionsBlocked",
       FindingKind::kDeadlock,
       all_connections_blocked,
       {.config = {.max_connections = 3}}},
      {"SpinningKernelFillsTheDevice",
       FindingKind::kDeadlock,
       spinning_kernel_fills_the_device,
       {.config = {.sm_count = 2}}},
      {"StreamFilledBeforeItIsReleased",
       FindingKind::kDeadlock,
       stream_filled_before_it_is_released,
       {.config = {.stream_queue_depth = 3}}},
      {"GraphBesideItsInput", FindingKind::kRace, graph_beside_its_input},
      {"BranchesOfAGraphTouchTheSame", FindingKind::kRace, branches_of_a_graph_touch_the_same},
      {"SynchronizingInsideACapture", FindingKind::kFailure, synchronizing_inside_a_capture},
      {"PollerBreaksTheCaptureOfAnotherThread", FindingKind::kFailure,
       poller_breaks_the_capture_of_another_thread},
      {"FailedRecordNotNoticed",
       FindingKind::kRace,
       failed_record_not_noticed,
       {.config = {.injections = {{.call = "simEventRecord"}}}}},
      {"FailedKernelNotNoticed", FindingKind::kFailure, failed_kernel_not_noticed},
  };
  return kCases;
}

}  // namespace corpus
