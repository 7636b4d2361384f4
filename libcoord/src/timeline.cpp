// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/timeline.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "codes.h"
#include "coord/deadlock.h"
#include "coord/error.h"
#include "coord/event_pool.h"
#include "device_state.h"
#include "observer.h"
#include "poller.h"
#include "ticks.h"
#include "timeline_word.h"
#include "wait_graph.h"

namespace coord {

namespace {

/// What every 64-bit wait on a word of memory takes for "reached": they compare signed.
constexpr std::uint64_t kPoison = 0x7fff'ffff'ffff'ffff;
/// Looks before a waiter goes to sleep: some microseconds, about what going to sleep costs.
constexpr int kSpins = 64;
/// How long a waiter sleeps before it looks for dead peers and deadlocks.
constexpr std::int64_t kNapNs = 20'000'000;

std::atomic<std::uint64_t> next_timeline{1};

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Memory that a device may read until the process ends.
void keep_for_ever(HostBuffer<std::uint64_t> memory) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<HostBuffer<std::uint64_t>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(memory));
}

}  // namespace

class TimelineSignal::Impl {
 public:
  Impl(std::optional<Device> device, const TimelineOptions& options);
  Impl(std::optional<Device> device, const std::string& share_name);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void signal(std::uint64_t value);
  void signal(StreamRef stream, std::uint64_t value);
  bool try_wait(std::uint64_t value);
  bool wait(std::uint64_t value, std::int64_t limit_ns);
  void wait(StreamRef stream, std::uint64_t value);
  void fail(const std::exception_ptr& error);
  std::string share_name() const;

  TimelineWord& word() noexcept { return *word_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// A promised value: reached once its event, if it has one, and all points before are.
  struct Point {
    std::uint64_t value;
    EventRef event;
    StreamId stream;
    std::uint64_t order;
  };
  struct StreamWait {
    std::uint64_t value;
    StreamId stream;
    std::uint64_t order;
  };
  struct HostWait {
    std::uint64_t value;
    std::uint64_t thread;
  };

  void announce() const;
  void tell(coord_timeline_act act, std::uint64_t value) const;
  void tell(coord_timeline_act act, std::uint64_t value, StreamRef stream) const;
  bool block(std::uint64_t value, std::int64_t limit_ns);
  void map(int file);
  void check_device(const char* call) const;
  void throw_failure();
  bool refresh();
  void reach(std::uint64_t value);
  void forget_passed();
  void open_gates();
  Look look();
  void tell_waits(WaitGraph& graph);
  void note_failure(const std::exception_ptr& error);
  bool peer_is_gone() const;

  const std::uint64_t number_ = next_timeline.fetch_add(1);
  std::string name_, share_name_;
  const bool imported_;
  TimelineWord* word_ = nullptr;
  bool mapped_ = false;

  std::mutex mutex_;
  std::optional<Device> device_;
  std::unique_ptr<EventPool> events_;
  std::deque<Point> points_;  // by value, none of them reached
  HostBuffer<std::uint64_t> gate_;
  bool gate_used_ = false;
  std::vector<StreamWait> gates_;  // streams that wait on the word
  std::vector<StreamWait> waits_;  // and those that wait for events, until reached
  std::vector<HostWait> host_waits_;
  std::exception_ptr error_;
  std::unique_ptr<PollClient> poller_;
  std::unique_ptr<WaitGraphSource> source_;
};

TimelineSignal::Impl::Impl(std::optional<Device> device, const TimelineOptions& options)
    : name_(options.name), imported_(false), device_(std::move(device)) {
  if (options.shared) {
    share_name_ = "/coord-timeline-" + std::to_string(getpid()) + "-" + std::to_string(number_);
    const int file = shm_open(share_name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(TimelineWord)) != 0) {
      const std::string why = std::strerror(errno);
      if (file >= 0) close(file);
      throw make_error(kCodeUnknown, "TimelineSignal", "no shared memory: " + why);
    }
    map(file);
    new (word_) TimelineWord();
    word_->owner_process = getpid();
  } else {
    word_ = new TimelineWord();
  }
  word_->completed.store(options.initial);
  word_->promised.store(options.initial);
  if (device_) events_ = std::make_unique<EventPool>(*device_, EventPoolOptions{.name = name_});
  source_ = std::make_unique<WaitGraphSource>([this](WaitGraph& graph) { tell_waits(graph); });
  if (device_) poller_ = std::make_unique<PollClient>([this] { return look(); });
  announce();
}

TimelineSignal::Impl::Impl(std::optional<Device> device, const std::string& share_name)
    : name_(share_name), share_name_(share_name), imported_(true), device_(std::move(device)) {
  constexpr const char* kCall = "TimelineSignal::import";
  const int file = shm_open(share_name.c_str(), O_RDWR | O_CLOEXEC, 0);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0 ||
      status.st_size < static_cast<off_t>(sizeof(TimelineWord)) || status.st_uid != geteuid()) {
    if (file >= 0) close(file);
    throw make_error(kCodeInvalidHandle, kCall, "there is no timeline \"" + share_name + "\"");
  }
  map(file);
  if (word_->magic != TimelineWord::kMagic)
    throw make_error(kCodeInvalidHandle, kCall, "\"" + share_name + "\" is no timeline");
  if (device_) events_ = std::make_unique<EventPool>(*device_);
  source_ = std::make_unique<WaitGraphSource>([this](WaitGraph& graph) { tell_waits(graph); });
  if (device_) poller_ = std::make_unique<PollClient>([this] { return look(); });
  announce();
}

// What a profiler is told

void TimelineSignal::Impl::announce() const {
  if (observer().timeline == nullptr) return;
  const coord_timeline_facts facts{static_cast<std::uint32_t>(number_), 0, word_->completed.load(),
                                   name_.c_str()};
  observer().timeline(&facts);
}

void TimelineSignal::Impl::tell(coord_timeline_act act, std::uint64_t value) const {
  if (observer().timeline_act == nullptr) return;
  coord_timeline_act_facts facts{};
  facts.timeline = static_cast<std::uint32_t>(number_);
  facts.act = act;
  facts.context = COORD_NONE;
  facts.value = value;
  facts.time_ns = device_ && device_->simulated() ? device_->now().value : 0;
  observer().timeline_act(&facts);
}

void TimelineSignal::Impl::tell(coord_timeline_act act, std::uint64_t value,
                                StreamRef stream) const {
  if (observer().timeline_act == nullptr) return;
  coord_timeline_act_facts facts{};
  facts.timeline = static_cast<std::uint32_t>(number_);
  facts.act = act;
  const StreamState& state = stream.checked("TimelineSignal");
  facts.context = state.device->backend->properties().context;
  facts.stream = state.native;
  facts.value = value;
  facts.time_ns = device_->simulated() ? device_->now().value : 0;
  observer().timeline_act(&facts);
}

void TimelineSignal::Impl::map(int file) {
  void* address = mmap(nullptr, sizeof(TimelineWord), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (address == MAP_FAILED)
    throw make_error(kCodeUnknown, "TimelineSignal", "shared memory cannot be mapped");
  word_ = static_cast<TimelineWord*>(address);
  mapped_ = true;
}

TimelineSignal::Impl::~Impl() {
  source_.reset();
  poller_.reset();
  if (gate_used_) {
    std::atomic_ref<std::uint64_t>(gate_[0]).store(kPoison);
    // Streams may not have looked yet, and only the device knows when they have.
    if (!gates_.empty()) keep_for_ever(std::move(gate_));
  }
  for (const Point& point : points_) {
    if (point.event.id().valid()) events_->release(point.event);
  }
  if (mapped_) {
    if (!imported_) {
      word_->fail();
      shm_unlink(share_name_.c_str());
    }
    munmap(word_, sizeof(TimelineWord));
  } else {
    delete word_;
  }
}

void TimelineSignal::Impl::check_device(const char* call) const {
  if (!device_) throw make_error(kCodeNotSupported, call, "the timeline has no device");
}

void TimelineSignal::Impl::throw_failure() {
  if (word_->failed.load() == 0) return;
  const Lock lock(mutex_);
  if (error_ != nullptr) std::rethrow_exception(error_);
  throw Error(ErrorKind::kCancelled, kCodeUnknown, name_of_code(kCodeUnknown),
              "TimelineSignal::wait", "\"" + name_ + "\" failed, or ended, in another process");
}

// Signals

void TimelineSignal::Impl::signal(std::uint64_t value) {
  constexpr const char* kCall = "TimelineSignal::signal";
  const auto too_small = [&](std::uint64_t now) {
    return make_error(kCodeInvalidValue, kCall,
                      "\"" + name_ + "\" was signaled " + std::to_string(now) +
                          " already, not less than " + std::to_string(value));
  };
  std::uint64_t now = word_->completed.load(std::memory_order_relaxed);
  if (!device_ && word_->outstanding.load(std::memory_order_relaxed) == 0) {
    do {
      if (value <= now) throw too_small(now);
    } while (!word_->raise(now, value));
    tell(COORD_TIMELINE_SIGNAL, value);
    tell(COORD_TIMELINE_REACH, value);
    return;
  }
  const Lock lock(mutex_);
  now = std::max(word_->completed.load(), word_->promised.load());
  if (value <= now) throw too_small(now);
  word_->promised.store(value);
  tell(COORD_TIMELINE_SIGNAL, value);
  if (points_.empty()) {
    reach(value);
    open_gates();
  } else {
    points_.push_back({value, EventRef(), StreamId(), take_order()});
    poller_->wake();
  }
}

void TimelineSignal::Impl::signal(StreamRef stream, std::uint64_t value) {
  constexpr const char* kCall = "TimelineSignal::signal";
  check_device(kCall);
  if (imported_)
    throw make_error(kCodeNotSupported, kCall, "only the process that made it signals by streams");
  if (stream.capture_status() != CaptureStatus::kNone)
    throw Error(ErrorKind::kCapture, 900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", kCall,
                "the stream is being captured");
  // One lock from the value to the record: the order of the events is that of the values.
  const Lock lock(mutex_);
  const std::uint64_t now = std::max(word_->completed.load(), word_->promised.load());
  if (value <= now)
    throw make_error(kCodeInvalidValue, kCall,
                     "\"" + name_ + "\" was signaled " + std::to_string(now) + " already");
  const EventRef event = events_->acquire();
  try {
    stream.record(event);
  } catch (...) {
    events_->release(event);
    throw;
  }
  // Streams that wait for this value on the word are let go by the device itself, if nothing else
  // has to be reached first.
  const bool alone = std::all_of(points_.begin(), points_.end(), [&](const Point& point) {
    return point.event.id().valid() && point.stream == stream.id();
  });
  const bool wanted = std::any_of(gates_.begin(), gates_.end(),
                                  [&](const StreamWait& gate) { return gate.value <= value; });
  if (alone && wanted) stream.write_value(gate_.data(), value);
  points_.push_back({value, event, stream.id(), take_order()});
  word_->promised.store(value);
  word_->outstanding.fetch_add(1);
  tell(COORD_TIMELINE_SIGNAL, value, stream);
  if (!gates_.empty() || !host_waits_.empty() || word_->sleepers.load() != 0) poller_->wake();
  if (points_.size() % 64 == 0) refresh();  // so that nobody waiting does not mean no end of events
}

// What was reached. All of the following with the lock held.

void TimelineSignal::Impl::reach(std::uint64_t value) {
  tell(COORD_TIMELINE_REACH, value);
  std::uint64_t now = word_->completed.load(std::memory_order_relaxed);
  while (now < value && !word_->raise(now, value)) {
  }
}

void TimelineSignal::Impl::open_gates() {
  if (!gate_used_) return;
  const std::uint64_t value = word_->failed.load() != 0 ? kPoison : word_->completed.load();
  const std::atomic_ref<std::uint64_t> gate(gate_[0]);
  if (gate.load() < value) gate.store(value);
}

void TimelineSignal::Impl::forget_passed() {
  const std::uint64_t now = word_->completed.load();
  const auto passed = [now](const StreamWait& wait) { return wait.value <= now; };
  std::erase_if(gates_, passed);
  std::erase_if(waits_, passed);
}

// Asks the device about the points in their order. True if a new value was reached.
bool TimelineSignal::Impl::refresh() {
  bool progress = false;
  while (!points_.empty()) {
    const Point point = points_.front();
    if (point.event.id().valid()) {
      try {
        Backend& backend = *device_->state()->backend;
        const CaptureMode before = backend.exchange_capture_mode(CaptureMode::kRelaxed);
        const bool ended = point.event.query();
        backend.exchange_capture_mode(before);
        if (!ended) break;
      } catch (const Error&) {
        note_failure(std::current_exception());
        return true;
      }
      events_->release(point.event);
      word_->outstanding.fetch_sub(1);
    }
    points_.pop_front();
    reach(point.value);
    progress = true;
  }
  open_gates();
  forget_passed();
  return progress;
}

Look TimelineSignal::Impl::look() {
  const Lock lock(mutex_);
  const bool progress = refresh();
  if (progress) return {Look::kProgress};
  if (word_->failed.load() != 0 || (points_.empty() && gates_.empty())) return {Look::kIdle};
  // Not only who sleeps counts: a thread that is about to sleep has told the poller already.
  if (!gates_.empty() || !host_waits_.empty() || word_->sleepers.load() != 0)
    return {Look::kWaiting};
  // Other processes cannot say that they begin to wait.
  return {mapped_ ? Look::kPatient : Look::kIdle};
}

void TimelineSignal::Impl::note_failure(const std::exception_ptr& error) {
  if (error_ == nullptr) {
    error_ = error;
    tell(COORD_TIMELINE_FAIL, word_->completed.load());
  }
  word_->fail();
  open_gates();
  gates_.clear();
  for (const Point& point : points_) {
    if (!point.event.id().valid()) continue;
    events_->release(point.event);
    word_->outstanding.fetch_sub(1);
  }
  points_.clear();
}

void TimelineSignal::Impl::fail(const std::exception_ptr& error) {
  if (error == nullptr)
    throw make_error(kCodeInvalidValue, "TimelineSignal::fail", "there is no error");
  const Lock lock(mutex_);
  note_failure(error);
}

bool TimelineSignal::Impl::peer_is_gone() const {
  return imported_ && word_->owner_process != 0 &&
         kill(static_cast<pid_t>(word_->owner_process), 0) != 0 && errno == ESRCH;
}

// Waits

bool TimelineSignal::Impl::try_wait(std::uint64_t value) {
  if (word_->completed.load(std::memory_order_acquire) >= value) return true;
  throw_failure();
  if (!device_) return false;
  {
    const Lock lock(mutex_);
    refresh();
  }
  if (word_->completed.load(std::memory_order_acquire) >= value) return true;
  throw_failure();
  return false;
}

bool TimelineSignal::Impl::wait(std::uint64_t value, std::int64_t limit_ns) {
  tell(COORD_TIMELINE_WAIT, value);
  try {
    const bool reached = block(value, limit_ns);
    tell(reached ? COORD_TIMELINE_RELEASE : COORD_TIMELINE_GIVE_UP, value);
    return reached;
  } catch (...) {
    tell(COORD_TIMELINE_GIVE_UP, value);
    throw;
  }
}

bool TimelineSignal::Impl::block(std::uint64_t value, std::int64_t limit_ns) {
  const auto reached = [&] { return word_->completed.load(std::memory_order_acquire) >= value; };
  const std::int64_t begin_ns = monotonic_ns();
  const std::int64_t until_ns = limit_ns > std::numeric_limits<std::int64_t>::max() - begin_ns
                                    ? std::numeric_limits<std::int64_t>::max()
                                    : begin_ns + limit_ns;
  for (int spin = 0; spin < kSpins; ++spin) {
    if (reached()) return true;
    if (limit_ns <= 0) break;
    relax();
  }
  if (try_wait(value)) return true;
  const std::uint64_t thread = this_thread_number();
  {
    const Lock lock(mutex_);
    host_waits_.push_back({value, thread});
  }
  const auto leave = [&] {
    const Lock lock(mutex_);
    host_waits_.erase(std::find_if(
        host_waits_.begin(), host_waits_.end(),
        [&](const HostWait& wait) { return wait.value == value && wait.thread == thread; }));
  };
  try {
    for (int eager = 0;; ++eager) {
      if (reached()) break;
      throw_failure();
      const std::int64_t now_ns = monotonic_ns();
      if (now_ns >= until_ns) {
        leave();
        return try_wait(value);  // it may have been reached at the last moment
      }
      if (device_ && eager < kSpins) {  // the device is about to say so, or its time has to pass
        if (try_wait(value)) break;
        continue;
      }
      if (poller_ != nullptr) poller_->wake();
      const std::int64_t nap_ns = std::min(until_ns, now_ns + kNapNs);
      word_->sleep(value, nap_ns);
      if (reached()) break;
      if (poller_ != nullptr) poller_->wake();  // it slept if nobody did when it looked
      if (monotonic_ns() < nap_ns) continue;
      if (peer_is_gone()) {
        const Lock lock(mutex_);
        note_failure(std::make_exception_ptr(
            Error(ErrorKind::kCancelled, kCodeUnknown, name_of_code(kCodeUnknown),
                  "TimelineSignal::wait", "the process that made \"" + name_ + "\" has ended")));
      }
      const DeadlockReport report = find_deadlocks();
      if (!report.cycles.empty() && !reached()) {
        if (observer().mark != nullptr)
          observer().mark("deadlock", device_ && device_->simulated() ? device_->now().value : 0);
        throw Error(ErrorKind::kDeadlock, kCodeUnknown, name_of_code(kCodeUnknown),
                    "TimelineSignal::wait", report.text());
      }
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return true;
}

void TimelineSignal::Impl::wait(StreamRef stream, std::uint64_t value) {
  check_device("TimelineSignal::wait");
  const bool reached = try_wait(value);
  tell(COORD_TIMELINE_WAIT, value, stream);
  if (reached) {
    tell(COORD_TIMELINE_RELEASE, value, stream);
    return;
  }
  const Lock lock(mutex_);
  const auto point = std::find_if(points_.begin(), points_.end(),
                                  [&](const Point& candidate) { return candidate.value >= value; });
  if (point != points_.end()) {
    // The newest event of each stream up to the point, and no later one: a later value may depend
    // on what the host does after this wait.
    const auto end = std::next(point);
    const bool by_events =
        std::all_of(points_.begin(), end, [](const Point& one) { return one.event.id().valid(); });
    if (by_events) {
      for (auto at = points_.begin(); at != end; ++at) {
        const bool newest = std::none_of(
            std::next(at), end, [&](const Point& later) { return later.stream == at->stream; });
        if (newest && at->stream != stream.id()) stream.wait(at->event);
      }
      waits_.push_back({value, stream.id(), take_order()});
      return;
    }
  }
  if (!gate_used_) {
    gate_ = device_->allocate_host<std::uint64_t>(1);
    gate_used_ = true;
    open_gates();
  }
  stream.wait_value(gate_.data(), value);
  gates_.push_back({value, stream.id(), take_order()});
  poller_->wake();
}

std::string TimelineSignal::Impl::share_name() const {
  if (share_name_.empty() || imported_)
    throw make_error(kCodeNotPermitted, "TimelineSignal::share_name",
                     "the timeline was not made to be shared");
  return share_name_;
}

void TimelineSignal::Impl::tell_waits(WaitGraph& graph) {
  const Lock lock(mutex_);
  if (word_->failed.load() != 0) return;
  forget_passed();
  const std::string prefix = "timeline " + std::to_string(number_) + " ";
  const auto label = [&](std::uint64_t value) {
    return "value " + std::to_string(value) + " of timeline \"" + name_ + "\"";
  };
  const Point* before = nullptr;
  for (const Point& point : points_) {
    const std::size_t node = graph.node(prefix + std::to_string(point.value), label(point.value));
    if (point.event.id().valid()) graph.in_stream(node, point.stream.value, point.order);
    if (before != nullptr) graph.edge(node, graph.node(prefix + std::to_string(before->value)));
    before = &point;
  }
  const auto wait_for = [&](std::size_t waiter, std::uint64_t value) {
    const auto point = std::find_if(points_.begin(), points_.end(),
                                    [&](const Point& one) { return one.value >= value; });
    if (point != points_.end()) {
      graph.edge(waiter, graph.node(prefix + std::to_string(point->value)));
    } else if (!imported_ && word_->completed.load() < value) {
      graph.orphan(waiter);
    }
  };
  const auto stream_wait = [&](const StreamWait& wait) {
    const std::size_t node =
        graph.node(prefix + "wait " + std::to_string(wait.order),
                   "stream " + std::to_string(wait.stream.value) + " waits for " +
                       label(wait.value) + ", which was signaled up to " +
                       std::to_string(std::max(word_->completed.load(), word_->promised.load())));
    graph.in_stream(node, wait.stream.value, wait.order);
    wait_for(node, wait.value);
  };
  for (const StreamWait& wait : gates_) stream_wait(wait);
  for (const StreamWait& wait : waits_) stream_wait(wait);
  for (const HostWait& wait : host_waits_) {
    const std::size_t thread = graph.node(thread_key(wait.thread), thread_label(wait.thread));
    const std::size_t node =
        graph.node(prefix + "host wait " + std::to_string(wait.thread),
                   thread_label(wait.thread) + " waits for " + label(wait.value));
    graph.edge(thread, node);
    wait_for(node, wait.value);
  }
}

// The public class

TimelineSignal::TimelineSignal(const TimelineOptions& options)
    : TimelineSignal(std::make_unique<Impl>(std::nullopt, options)) {}

TimelineSignal::TimelineSignal(const Device& device, const TimelineOptions& options)
    : TimelineSignal(std::make_unique<Impl>(device, options)) {}

TimelineSignal::TimelineSignal(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), completed_(&impl_->word().completed) {}

TimelineSignal::~TimelineSignal() = default;

std::uint64_t TimelineSignal::signaled() const noexcept {
  return std::max(impl_->word().completed.load(), impl_->word().promised.load());
}

void TimelineSignal::signal(std::uint64_t value) { impl_->signal(value); }
void TimelineSignal::signal(StreamRef stream, std::uint64_t value) { impl_->signal(stream, value); }
bool TimelineSignal::try_wait(std::uint64_t value) { return impl_->try_wait(value); }
void TimelineSignal::wait(std::uint64_t value) {
  (void)impl_->wait(value, std::numeric_limits<std::int64_t>::max());
}
bool TimelineSignal::wait_for(std::uint64_t value, Nanoseconds limit) {
  return impl_->wait(value, limit.count());
}
void TimelineSignal::wait(StreamRef stream, std::uint64_t value) { impl_->wait(stream, value); }
void TimelineSignal::fail(std::exception_ptr error) { impl_->fail(error); }
bool TimelineSignal::failed() const noexcept { return impl_->word().failed.load() != 0; }
std::string TimelineSignal::share_name() const { return impl_->share_name(); }

std::unique_ptr<TimelineSignal> TimelineSignal::import(const std::string& share_name) {
  return std::unique_ptr<TimelineSignal>(
      new TimelineSignal(std::make_unique<Impl>(std::nullopt, share_name)));
}

std::unique_ptr<TimelineSignal> TimelineSignal::import(const std::string& share_name,
                                                       const Device& device) {
  return std::unique_ptr<TimelineSignal>(
      new TimelineSignal(std::make_unique<Impl>(device, share_name)));
}

}  // namespace coord
