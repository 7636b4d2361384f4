// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// An observer for tests: keeps everything that libcoord reports, in order.
//
// The test program exports it as a profiler would, and libcoord finds it automatically.
#pragma once

#include <coord/device.h>
#include <coord/observer.h>
#include <coord/sim.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fake_observer {

struct Device {
  std::uint32_t ordinal, context, simulated, sm_count, copy_engines;
  std::string name;
};
struct Stream {
  std::uint32_t context, stream;
  std::uint64_t handle;
  std::uint32_t kind;
  std::int32_t priority;
  bool destroyed;
  std::int64_t time_ns;
  std::string name;
};
struct Operation {
  std::uint32_t operation, type, priority, context;
  std::uint64_t stream;
  std::vector<std::uint32_t> dependencies;
  std::int64_t time_ns;
  std::string name, call_site;
};
struct Dependency {
  std::uint32_t operation, depends_on;
  bool inferred, elided;
  std::uint32_t because;  // coord_elision
};
struct State {
  std::uint32_t operation, state;
  std::int64_t time_ns;
};
struct Call {
  std::string name;
  coord_sim_call facts;     // its text is above
  std::uint32_t operation;  // whose function made it, COORD_NONE if none
};
struct Op {
  std::string name;
  coord_sim_op facts;  // its text is above
};

struct Pool {
  std::uint32_t pool, kind;
  std::uint64_t capacity;
  std::string name;
};
struct Barrier {
  std::uint32_t operation;
  std::string name;
  std::vector<coord_barrier_stream> streams;
};
struct Timeline {
  std::uint32_t timeline;
  std::uint64_t initial;
  std::string name;
};

struct WaitParty {
  std::uint32_t kind, flags;
  std::uint64_t object;
  std::string label;
};
struct Waits {
  std::vector<WaitParty> parties;
  std::vector<coord_wait_link> links;
  bool given_up;
};

struct TaskQueue {
  std::uint32_t queue, workers;
  bool on_device;
  std::string name;
};
struct Tasks {
  coord_tasks_facts facts;  // its tasks are below
  std::vector<coord_task> tasks;
};

struct Observed {
  std::vector<Device> devices;
  std::vector<Stream> streams;
  std::vector<std::pair<std::uint64_t, std::string>> event_names;
  std::vector<Operation> operations;
  std::size_t of_kinds = 0;  // of these, reported by the number of their kind
  std::vector<Dependency> dependencies;
  std::vector<State> states;
  std::vector<Call> calls;
  std::vector<Op> ops;
  std::vector<std::string> marks;
  std::vector<Pool> pools;
  std::vector<coord_pool_sample_facts> pool_samples;
  std::vector<Barrier> barriers;
  std::vector<coord_access_facts> accesses;
  std::vector<coord_barrier_arrival_facts> arrivals;
  std::vector<Timeline> timelines;
  std::vector<coord_timeline_act_facts> timeline_acts;
  std::vector<Waits> waits;
  std::vector<TaskQueue> task_queues;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> task_runs;  // queue and run
  std::vector<Tasks> tasks;

  [[nodiscard]] std::vector<Call> calls_named(const std::string& name) const;
  /// The first of that name; fails the test if there is none.
  [[nodiscard]] Op op_named(const std::string& name) const;
};

/// Makes libcoord report its waits.
void ask_for_waits();
/// From now on, accepts no more than this many of each batch of tasks of a run.
void take_tasks(std::uint32_t most);
/// The ends of submissions are stored for the thread that makes them instead of being reported, and
/// operations that have much in common are reported by numbers.
void keep_ends(bool keep);
/// The calling thread's latest one since it entered an operation; 0: there is none.
std::uint64_t last_end();
/// Forgets what was reported so far. While off, everything is ignored.
void start();
/// What was reported since start(); nothing is kept from then on.
Observed stop();

/// What `program` does on a simulated device of that kind.
template <typename Program>
Observed run(const coord::sim::Config& config, Program program) {
  start();
  program(coord::Device::open(config));
  return stop();
}

}  // namespace fake_observer
