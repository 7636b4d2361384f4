// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/fake_observer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace fake_observer {

namespace {

std::mutex mutex;
bool on = false;
Observed observed;
/// The operation that each thread is in.
std::map<std::thread::id, std::uint32_t> current_operations;
std::uint32_t current_operation() {
  const std::lock_guard lock(mutex);
  const auto found = current_operations.find(std::this_thread::get_id());
  return found != current_operations.end() ? found->second : COORD_NONE;
}
void enter(std::uint32_t operation) {
  const std::lock_guard lock(mutex);
  current_operations[std::this_thread::get_id()] = operation;
}
void leave(std::uint32_t operation) {
  const std::lock_guard lock(mutex);
  std::erase_if(current_operations, [&](const auto& one) { return one.second == operation; });
}
std::atomic<bool> ends_kept{false};
thread_local std::uint64_t kept_end = 0;

struct Kind {
  coord_operation_begin_facts facts;
  std::string name;
};
std::deque<Kind> kinds;

template <typename Keep>
void keep(Keep function) {
  const std::lock_guard lock(mutex);
  if (on) function();
}

std::string text(const char* from) { return from != nullptr ? from : ""; }

void device(const coord_device_facts* facts) {
  keep([&] {
    observed.devices.push_back({facts->device, facts->context, facts->simulated, facts->sm_count,
                                facts->copy_engines, text(facts->name)});
  });
}

void stream(const coord_stream_facts* facts) {
  keep([&] {
    observed.streams.push_back({facts->context, facts->stream, facts->handle, facts->kind,
                                facts->priority, facts->destroyed != 0, facts->time_ns,
                                text(facts->name)});
  });
}

void event_name(std::uint32_t, std::uint64_t event, const char* name) {
  keep([&] { observed.event_names.emplace_back(event, name); });
}

void operation_registered(const coord_operation_facts* facts) {
  keep([&] {
    observed.operations.push_back(
        {facts->operation,
         facts->type,
         facts->priority,
         facts->context,
         facts->stream,
         {facts->dependencies, facts->dependencies + facts->dependency_count},
         facts->time_ns,
         text(facts->name),
         text(facts->call_site)});
  });
}

void operation_begun(const coord_operation_begin_facts* facts) {
  enter(facts->operation);
  keep([&] {
    std::vector<std::uint32_t> on;
    for (std::uint32_t i = 0; i < facts->dependency_count; ++i) {
      const coord_dependency_facts& one = facts->dependencies[i];
      on.push_back(one.operation);
      observed.dependencies.push_back(
          {facts->operation, one.operation, one.inferred != 0, one.elided != 0, one.elided});
    }
    observed.operations.push_back(
        {facts->operation, facts->type, facts->priority, facts->context, facts->stream, on,
         static_cast<std::int64_t>(facts->registered), text(facts->name),
         text(facts->file) + ":" + std::to_string(facts->line) + " " + text(facts->function)});
    observed.states.push_back(
        {facts->operation, COORD_OPERATION_BEGUN, static_cast<std::int64_t>(facts->begun)});
  });
}

std::uint64_t* operation_entered(const coord_operation_begin_facts* facts) {
  operation_begun(facts);
  kept_end = 0;
  return ends_kept ? &kept_end : nullptr;
}

std::uint32_t operation_kind(const coord_operation_begin_facts* facts) {
  if (!ends_kept) return 0;
  const std::lock_guard lock(mutex);
  kinds.push_back({*facts, text(facts->name)});
  kinds.back().facts.name = kinds.back().name.c_str();
  return static_cast<std::uint32_t>(kinds.size());
}

std::uint64_t* operation_of_kind(std::uint32_t number, std::uint32_t operation,
                                 std::uint64_t registered, std::uint64_t begun,
                                 const coord_dependency_facts* dependencies,
                                 std::uint32_t dependency_count) {
  coord_operation_begin_facts facts{};
  {
    const std::lock_guard lock(mutex);
    facts = kinds.at(number - 1).facts;
  }
  facts.operation = operation;
  facts.registered = registered;
  facts.begun = begun;
  facts.dependencies = dependencies;
  facts.dependency_count = dependency_count;
  keep([&] { ++observed.of_kinds; });
  return operation_entered(&facts);
}

void operation_begin(std::uint32_t operation, std::int64_t) {
  enter(operation);
  kept_end = 0;
}
void operation_end(std::uint32_t operation, std::int64_t) { leave(operation); }

void operation_state(std::uint32_t operation, std::uint32_t state, std::int64_t time_ns) {
  keep([&] { observed.states.push_back({operation, state, time_ns}); });
}

void operation_stamp(std::uint32_t operation, std::uint32_t state, std::uint32_t,
                     std::uint64_t stamp) {
  if (current_operation() == operation && state != COORD_OPERATION_BEGUN) leave(operation);
  operation_state(operation, state, static_cast<std::int64_t>(stamp));
}

void operations_completed(const std::uint32_t* operations, std::uint32_t count, std::uint32_t,
                          std::uint64_t stamp) {
  for (std::uint32_t i = 0; i < count; ++i)
    operation_state(operations[i], COORD_OPERATION_COMPLETED, static_cast<std::int64_t>(stamp));
}

void dependency(std::uint32_t operation, std::uint32_t depends_on, std::uint32_t inferred,
                std::uint32_t elided) {
  keep([&] {
    observed.dependencies.push_back({operation, depends_on, inferred != 0, elided != 0, elided});
  });
}

void sim_call(const coord_sim_call* facts) {
  const std::uint32_t operation = kept_end == 0 ? current_operation() : COORD_NONE;
  keep([&] {
    observed.calls.push_back({facts->name, *facts, operation});
    observed.calls.back().facts.name = nullptr;
  });
}

void sim_op(const coord_sim_op* facts) {
  keep([&] {
    observed.ops.push_back({text(facts->name), *facts});
    observed.ops.back().facts.name = nullptr;
  });
}

void mark(const char* name, std::int64_t) {
  keep([&] { observed.marks.emplace_back(name); });
}

void pool(const coord_pool_facts* facts) {
  keep([&] {
    observed.pools.push_back({facts->pool, facts->kind, facts->capacity, text(facts->name)});
  });
}

void pool_sample(const coord_pool_sample_facts* facts) {
  keep([&] { observed.pool_samples.push_back(*facts); });
}

void barrier(const coord_barrier_facts* facts) {
  keep([&] {
    observed.barriers.push_back({facts->operation,
                                 text(facts->name),
                                 {facts->streams, facts->streams + facts->stream_count}});
  });
}

void access(const coord_access_facts* facts) {
  keep([&] { observed.accesses.push_back(*facts); });
}

void barrier_arrival(const coord_barrier_arrival_facts* facts) {
  keep([&] { observed.arrivals.push_back(*facts); });
}

void timeline(const coord_timeline_facts* facts) {
  keep([&] { observed.timelines.push_back({facts->timeline, facts->initial, text(facts->name)}); });
}

void timeline_act(const coord_timeline_act_facts* facts) {
  keep([&] { observed.timeline_acts.push_back(*facts); });
}

void waits(const coord_waits_facts* facts) {
  keep([&] {
    Waits all{{}, {facts->links, facts->links + facts->link_count}, facts->given_up != 0};
    for (std::uint32_t i = 0; i < facts->party_count; ++i) {
      const coord_wait_party& party = facts->parties[i];
      all.parties.push_back({party.kind, party.flags, party.object, text(party.label)});
    }
    observed.waits.push_back(std::move(all));
  });
}

void task_queue(const coord_task_queue_facts* facts) {
  keep([&] {
    observed.task_queues.push_back(
        {facts->queue, facts->workers, facts->on_device != 0, text(facts->name)});
  });
}

void task_run(std::uint32_t queue, std::uint32_t run) {
  keep([&] { observed.task_runs.emplace_back(queue, run); });
}

std::uint64_t task_stamp(std::uint32_t* clock) {
  static std::atomic<std::uint64_t> now{1};
  *clock = COORD_CLOCK_MONOTONIC;
  return now.fetch_add(1);
}

std::uint32_t most_tasks = ~0u;
std::uint32_t tasks(const coord_tasks_facts* facts) {
  const std::uint32_t taken =
      facts->run == COORD_NONE ? facts->count : std::min(facts->count, most_tasks);
  keep([&] { observed.tasks.push_back({*facts, {facts->tasks, facts->tasks + taken}}); });
  return taken;
}

void (*notify_waits)() = nullptr;
void waits_on_request(void (*notify)()) { notify_waits = notify; }

}  // namespace

void ask_for_waits() { notify_waits(); }

void keep_ends(bool keep) { ends_kept = keep; }
std::uint64_t last_end() { return kept_end; }

void take_tasks(std::uint32_t most) { most_tasks = most; }

std::vector<Call> Observed::calls_named(const std::string& name) const {
  std::vector<Call> found;
  for (const Call& call : calls) {
    if (call.name == name) found.push_back(call);
  }
  return found;
}

Op Observed::op_named(const std::string& name) const {
  for (const Op& op : ops) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << "nothing named " << name << " ran";
  return {};
}

void start() {
  const std::lock_guard lock(mutex);
  on = true;
  observed = {};
}

Observed stop() {
  const std::lock_guard lock(mutex);
  on = false;
  return std::exchange(observed, {});
}

}  // namespace fake_observer

extern "C" __attribute__((visibility("default"))) const coord_observer*
streamscope_coord_observer() {
  using namespace fake_observer;
  static constexpr coord_observer kTable{
      .size = sizeof(coord_observer),
      .version = COORD_OBSERVER_VERSION,
      .device = device,
      .stream = stream,
      .event_name = event_name,
      .operation_registered = operation_registered,
      .operation_entered = operation_entered,
      .operation_kind = operation_kind,
      .operation_of_kind = operation_of_kind,
      .operation_begin = operation_begin,
      .operation_end = operation_end,
      .operation_stamp = operation_stamp,
      .operations_completed = operations_completed,
      .dependency = dependency,
      .sim_call = sim_call,
      .sim_op = sim_op,
      .mark = mark,
      .pool = pool,
      .pool_sample = pool_sample,
      .barrier = barrier,
      .access = access,
      .barrier_arrival = barrier_arrival,
      .timeline = timeline,
      .timeline_act = timeline_act,
      .waits = waits,
      .waits_on_request = waits_on_request,
      .task_queue = task_queue,
      .task_run = task_run,
      .task_stamp = task_stamp,
      .tasks = tasks,
  };
  return &kTable;
}
