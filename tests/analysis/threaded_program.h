// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs of several threads whose iterations repeat, made by hand or at random.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "iteration_program.h"

namespace streamscope::analysis {

// A program whose threads each have a clock. An op starts 5 µs after its call began, or `gap` after
// the end of what it waits for; a synchronization returns 2 µs after that.
class ThreadedProgram {
 public:
  test::TraceBuilder builder;
  Ns gap = 1500;

  ThreadedProgram() { builder.columns().process.clock[0] = trace::kVirtualClock; }

  ThreadedProgram& thread(std::string_view name) {
    builder.thread(name);
    thread_ = name;
    return *this;
  }
  /// The clock of the current thread.
  Ns& now() { return clocks_[thread_]; }

  void kernel(Ns call, Ns lasts, std::string_view name = "k", std::string_view stream = "main") {
    const Ns start = start_of(stream);
    builder.at(now()).stream(stream).kernel(name, start, start + lasts);
    issued(stream, call, start + lasts);
  }
  void copy(Ns call, Ns lasts, std::string_view stream = "main") {
    const Ns start = start_of(stream);
    builder.at(now()).stream(stream).memcpy(test::kHtoD, start, start + lasts);
    issued(stream, call, start + lasts);
  }
  void memset(Ns call, Ns lasts, std::string_view stream = "main") {
    const Ns start = start_of(stream);
    builder.at(now()).stream(stream).memset(start, start + lasts);
    issued(stream, call, start + lasts);
  }
  void host_function(Ns call, Ns lasts, std::string_view stream = "main") {
    const Ns start = start_of(stream);
    builder.at(now()).stream(stream).host_function(start, start + lasts);
    issued(stream, call, start + lasts);
  }
  void record(std::string_view event, std::string_view stream) {
    builder.at(now()).stream(stream).record(event);
    events_[std::string(event)] = done_[std::string(stream)];
    now() += 1;
  }
  void wait(std::string_view event, std::string_view stream) {
    builder.at(now()).stream(stream).wait(event);
    Ns& done = done_[std::string(stream)];
    done = std::max(done, events_[std::string(event)]);
    now() += 1;
  }
  void synchronize() {
    Ns end = now() + kUs;
    for (const auto& [stream, done] : done_) end = std::max(end, done + 2 * kUs);
    builder.synchronize_device(now(), end);
    now() = end;
  }
  void synchronize_stream(std::string_view stream) {
    const Ns end = std::max(now() + kUs, done_[std::string(stream)] + 2 * kUs);
    builder.stream(stream).synchronize(now(), end);
    now() = end;
  }
  void synchronize_event(std::string_view event) {
    const Ns end = std::max(now() + kUs, events_[std::string(event)] + 2 * kUs);
    builder.synchronize_event(event, now(), end);
    now() = end;
  }
  void query_event(std::string_view event) {
    builder.at(now()).query_event(event, events_[std::string(event)] <= now());
    now() += 1;
  }
  void malloc(Ns call) {
    builder.at(now()).malloc(0x1000'0000, 4096);
    called(call);
  }
  void load_module(Ns call) {
    malloc(call);
    builder.columns().api_call.kind.back() = number_of(CallKind::kModuleLoad);
  }
  void overhead(Ns lasts) {
    builder.add(trace::Overhead{.process_id = 0,
                                .thread_id = builder.columns().api_call.thread_id.back(),
                                .name_id = builder.intern("CUPTI buffer flush"),
                                .start_ns = now(),
                                .end_ns = now() + lasts});
    now() += lasts;
  }
  void pause(Ns lasts) { now() += lasts; }

  template <class Body>
  ThreadedProgram& steps(int count, Body body) {
    for (int i = 0; i < count; ++i) {
      thread("main");
      const Ns begin = now();
      body();
      thread("main");
      builder.range("step", begin, now());
    }
    return *this;
  }

 private:
  Ns start_of(std::string_view stream) {
    const auto done = done_.find(std::string(stream));
    return std::max(now() + 5 * kUs, done == done_.end() ? 0 : done->second + gap);
  }
  void issued(std::string_view stream, Ns call, Ns end) {
    done_[std::string(stream)] = end;
    called(call);
  }
  void called(Ns call) {
    now() += call;
    builder.columns().api_call.end_ns.back() = now();
  }

  std::string thread_ = "main";
  std::map<std::string, Ns> clocks_, done_, events_;
};

// Each iteration repeats the same calls on up to three streams, with some jitter; a second thread
// works in turns with the first one, or at the same time on streams of its own: which of two calls
// that overlap was the first on a stream is not in a trace.
inline ThreadedProgram random_iterations(uint32_t seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](Ns most) { return 1 + static_cast<Ns>(random() % most); };
  ThreadedProgram program;
  const bool ranges = random() % 2 == 0, two = random() % 2 == 0, at_once = random() % 2 == 0;
  const Ns slow = random() % 3 == 0 ? 200 * kUs : 20 * kUs;
  struct Action {
    uint32_t what, stream, event;
    Ns call, lasts;
  };
  const auto actions_of = [&](size_t count) {
    std::vector<Action> actions;
    for (size_t i = 0; i < count; ++i) {
      actions.push_back({static_cast<uint32_t>(random() % 22), static_cast<uint32_t>(random() % 3),
                         static_cast<uint32_t>(random() % 3), up_to(15 * kUs), up_to(slow)});
    }
    return actions;
  };
  const std::vector<Action> plans[2] = {actions_of(4 + random() % 20), actions_of(random() % 20)};
  const auto act = [&](const Action& action, size_t number, size_t who) {
    const std::string stream = (who == 1 && at_once ? "t" : "s") + std::to_string(action.stream),
                      event = "e" + std::to_string(action.event);
    const Ns jitter = static_cast<Ns>(random() % (random() % 16 == 0 ? 20 * kUs : 500));
    const Ns call = action.call + jitter, lasts = action.lasts + jitter;
    program.gap = 500 + static_cast<Ns>(random() % 4) * 500;
    switch (action.what) {
      case 0:
        return program.record(event, stream);
      case 1:
        return program.wait(event, stream);
      case 2:
        return program.synchronize_stream(stream);
      case 3:
        return action.event == 0 ? program.synchronize() : program.synchronize_event(event);
      case 4:
        return program.malloc(call * 4);
      case 5:
        return program.load_module(call * 3);
      case 6:
        return program.pause(lasts * 3);
      case 7:
        return program.overhead(call);
      case 8:
        return program.copy(call * 2, lasts, stream);
      case 9:
        return program.memset(call, lasts, stream);
      case 10:
        return program.host_function(call, lasts, stream);
      case 11:
        return program.query_event(event);
      default:
        return program.kernel(call, lasts,
                              number % 7 == 6 ? "nccl" : "k" + std::to_string(number % 9), stream);
    }
  };
  for (int event = 0; event < 3; ++event)
    program.record("e" + std::to_string(event), "s" + std::to_string(event));
  program.kernel(5 * kUs, 5 * kUs, "start", "s0");
  const auto step = [&] {
    const Ns begin = program.now();
    size_t next[2] = {0, 0};
    if (two) {
      Ns& other = program.thread("other").now();
      other = std::max(other, begin + 1);
      program.thread("main");
    }
    program.kernel(5 * kUs, 10 * kUs, "first", "s0");
    while (next[0] < plans[0].size() || (two && next[1] < plans[1].size())) {
      // In turns: the main thread first. At once: whose clock is behind.
      Ns clocks[2] = {program.thread("main").now(), 0};
      if (two) clocks[1] = program.thread("other").now();
      size_t who = next[0] < plans[0].size() ? 0 : 1;
      if (two && at_once && who == 0 && next[1] < plans[1].size() && clocks[1] < clocks[0]) who = 1;
      program.thread(who == 0 ? "main" : "other");
      if (who == 1 && !at_once) program.now() = std::max(clocks[0], clocks[1]);
      act(plans[who][next[who]], next[who], who);
      ++next[who];
    }
    if (two) {
      const Ns other = program.thread("other").now();
      Ns& main = program.thread("main").now();
      main = std::max(main, other + static_cast<Ns>(random() % (5 * kUs)));
    }
    program.thread("main");
    program.kernel(5 * kUs, 10 * kUs, "last", "s0");
    if (ranges) program.builder.range("step", begin, program.now());
  };
  const size_t count = 6 + random() % 8;
  for (size_t i = 0; i < count; ++i) step();
  return program;
}

}  // namespace streamscope::analysis
