// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pieces of work between two events each, and the times of these events.

#include "coord/stream_profiler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "capture_mode.h"
#include "codes.h"
#include "coord/error.h"
#include "stream_profiler_impl.h"

namespace coord {

namespace {

/// Over this time, 32-bit milliseconds are accurate to about 15 ns.
constexpr Nanoseconds kMarkLife = std::chrono::milliseconds(200);
/// Pairs of records with nothing in between; the shortest one counts.
constexpr int kEmptyPairs = 5;
/// After kAskEach timed pieces, the device is queried for ended ones; with kMostPending pending, no
/// more are timed.
constexpr std::size_t kAskEach = 64, kMostPending = 4096;

}  // namespace

// The time axis of the device

DeviceAxis::DeviceAxis(const Device& device, EventPool& events)
    : device_(device), events_(events), stream_(device.create_stream({.name = "stream profiler"})) {
  const AllowedDuringCapture allowed(*device_.state()->backend);
  std::vector<PooledEvent> points;
  for (int i = 0; i <= kEmptyPairs; ++i) {
    points.push_back(events_.lease(EventClass::kTiming));
    stream_.record(points.back());
  }
  points.back().synchronize();
  empty_ = Nanoseconds::max();
  for (std::size_t i = 1; i < points.size(); ++i)
    empty_ = std::min(empty_, points[i].elapsed_since(points[i - 1]));
}

std::shared_ptr<DeviceAxis::Mark> DeviceAxis::recent_mark() {
  const std::lock_guard lock(mutex_);
  const TimeNs now = device_.now();
  if (newest_ != nullptr && now - marked_ < kMarkLife) return newest_;
  const AllowedDuringCapture allowed(*device_.state()->backend);
  auto mark = std::make_shared<Mark>();
  mark->event = events_.lease(EventClass::kTiming);
  stream_.record(mark->event);
  if (newest_ != nullptr) {
    (void)settle(*newest_);
    mark->before = newest_;
  } else {
    mark->position_ns = 0;
  }
  newest_ = std::move(mark);
  marked_ = now;
  return newest_;
}

// Position of a mark, once the device has passed it. With the lock held.
std::optional<std::int64_t> DeviceAxis::settle(Mark& mark) {
  if (mark.position_ns.has_value()) return mark.position_ns;
  const std::optional<std::int64_t> before_ns = settle(*mark.before);
  if (!before_ns.has_value() || !mark.event.query()) return std::nullopt;
  mark.position_ns = *before_ns + mark.event.elapsed_since(mark.before->event).count();
  mark.before.reset();
  return mark.position_ns;
}

std::optional<std::int64_t> DeviceAxis::position_ns(Mark& mark, EventRef event) {
  const std::lock_guard lock(mutex_);
  const std::optional<std::int64_t> mark_ns = settle(mark);
  if (!mark_ns.has_value() || !mark.event.query()) return std::nullopt;
  return *mark_ns + event.elapsed_since(mark.event).count();
}

// Timing a stream

WatchedStream::WatchedStream(const StreamProfilerOptions& options, StreamRef stream,
                             StreamState& state, EventPool& events, DeviceAxis& axis,
                             History& history)
    : options_(options),
      stream_(stream),
      state_(state),
      events_(events),
      axis_(axis),
      history_(history) {
  report_.stream = stream.id();
  report_.name = stream.name();
  report_.priority = stream.priority();
}

void WatchedStream::watch() {
  StreamMeter* nobody = nullptr;
  if (!state_.meter.compare_exchange_strong(nobody, this))
    throw make_error(kCodeNotPermitted, "StreamProfiler::watch", "the stream is already watched");
  const std::lock_guard lock(mutex_);
  operations_before_ = state_.counts.operations.load() - report_.operations;
}

void WatchedStream::unwatch() noexcept {
  if (!watched()) return;
  end_section();
  const std::lock_guard lock(mutex_);
  report_.operations = state_.counts.operations.load() - operations_before_;
  state_.meter.store(nullptr);
}

// Not counted as a record of the program.
void WatchedStream::record(EventRef event) {
  state_.device->backend->record(state_.native, event.handle());
  records_.fetch_add(1, std::memory_order_relaxed);
}

std::optional<WatchedStream::Timed> WatchedStream::begin(Kind kind, std::size_t bytes) {
  std::size_t pending = 0;
  {
    const std::lock_guard lock(mutex_);
    pending = pending_.size();
  }
  try {
    if (++begun_ % kAskEach == 0) {
      if (const std::unique_lock asking(collecting_, std::try_to_lock); asking.owns_lock())
        collect();
    }
    if (pending >= kMostPending) return std::nullopt;
    Timed timed{kind, bytes, events_.lease(EventClass::kTiming), events_.lease(EventClass::kTiming),
                axis_.recent_mark()};
    record(timed.start);
    return timed;
  } catch (const Error&) {
    return std::nullopt;  // the call to be timed will report the error
  }
}

void WatchedStream::end(std::optional<Timed>& timed) {
  if (!timed.has_value()) return;
  try {
    record(timed->end);
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(*timed));
  } catch (const Error&) {
    // As above: the next call reports the error.
  }
  timed.reset();
}

void WatchedStream::measure(const Work& work, const std::function<void()>& call) {
  if (state_.device->backend->capture_status(state_.native) != CaptureStatus::kNone) return call();
  std::optional<Timed> timed;
  if (!in_section_ && number_++ % std::max(options_.time_one_in, 1u) == 0)
    timed = begin(work.kind, work.bytes);
  call();
  end(timed);
  count(work);
}

void WatchedStream::count(const Work& work) {
  const bool pageable = work.host != nullptr && work.bytes > 0 &&
                        state_.device->backend->memory_kind(work.host) == MemoryKind::kPageable;
  const std::lock_guard lock(mutex_);
  WorkTimes& times = times_of(work.kind);
  ++times.count;
  times.bytes += work.bytes;
  if (!pageable) return;
  ++report_.pageable_copies;
  report_.pageable_bytes += work.bytes;
}

void WatchedStream::begin_section() {
  if (in_section_)
    throw make_error(kCodeNotPermitted, "StreamProfiler::section",
                     "the stream is already in a section");
  in_section_ = true;
  if (state_.device->backend->capture_status(state_.native) == CaptureStatus::kNone)
    section_ = begin(std::nullopt, 0);
}

void WatchedStream::end_section() noexcept {
  if (!std::exchange(in_section_, false)) return;
  const std::lock_guard lock(mutex_);
  ++report_.sections.count;
  if (!section_.has_value()) return;
  try {
    record(section_->end);
    pending_.push_back(std::move(*section_));
  } catch (const Error&) {
    // The next call on the stream will report the error.
  }
  section_.reset();
}

// Adds up the pieces that have ended. With `collecting_` held but not `mutex_`, because it queries
// the device.
void WatchedStream::collect() {
  const AllowedDuringCapture allowed(*state_.device->backend);
  for (;;) {
    const Timed* first = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) return;
      first = &pending_.front();  // stays there: only this thread takes from the queue
    }
    if (!collect_one(*first)) return;
    const std::lock_guard lock(mutex_);
    pending_.pop_front();
  }
}

bool WatchedStream::collect_one(const Timed& timed) {
  if (!timed.end.query()) return false;
  const std::optional<std::int64_t> start_ns = axis_.position_ns(*timed.mark, timed.start);
  if (!start_ns.has_value()) return false;
  const Nanoseconds took =
      std::max(timed.end.elapsed_since(timed.start) - axis_.empty(), Nanoseconds(0));
  const Interval interval{
      .begin_ns = *start_ns,
      .end_ns = *start_ns + took.count(),
      .copies = timed.kind.has_value() && *timed.kind >= WorkKind::kCopyToDevice &&
                *timed.kind <= WorkKind::kPrefetch,
      .computes = !timed.kind.has_value() || *timed.kind <= WorkKind::kGraph,
  };
  history_.add(interval);
  const std::lock_guard lock(mutex_);
  if (report_.timed++ == 0) begin_ns_ = interval.begin_ns;
  end_ns_ = std::max(end_ns_, interval.end_ns);
  WorkTimes& times = times_of(timed.kind);
  times.shortest = times.timed == 0 ? took : std::min(times.shortest, took);
  times.longest = std::max(times.longest, took);
  times.total += took;
  times.timed_bytes += timed.bytes;
  ++times.timed;
  return true;
}

// The profiler

StreamProfiler::Impl::Impl(const Device& device, const StreamProfilerOptions& options)
    : device_(device),
      options_(options),
      events_(device, {.name = "stream profiler"}),
      axis_(device, events_),
      history_(options.history) {}

void StreamProfiler::Impl::watch(StreamRef stream, StreamState& state) {
  if (state.device != device_.state().get())
    throw make_error(kCodeInvalidHandle, "StreamProfiler::watch",
                     "the stream belongs to another device");
  const std::lock_guard lock(mutex_);
  for (const auto& known : streams_) {
    if (known->id() == stream.id()) return known->watch();
  }
  auto fresh = std::make_unique<WatchedStream>(options_, stream, state, events_, axis_, history_);
  fresh->watch();
  streams_.push_back(std::move(fresh));
}

WatchedStream& StreamProfiler::Impl::find(StreamRef stream, const char* call) {
  const std::lock_guard lock(mutex_);
  for (const auto& known : streams_) {
    if (known->id() == stream.id()) return *known;
  }
  throw make_error(kCodeInvalidHandle, call, "the stream is not watched");
}

StreamProfiler::StreamProfiler(const Device& device, const StreamProfilerOptions& options)
    : impl_(std::make_unique<Impl>(device, options)) {}

StreamProfiler::~StreamProfiler() = default;

void StreamProfiler::watch(StreamRef stream) {
  impl_->watch(stream, stream.checked("StreamProfiler::watch"));
}

void StreamProfiler::unwatch(StreamRef stream) {
  impl_->find(stream, "StreamProfiler::unwatch").unwatch();
}

StreamProfiler::Section StreamProfiler::section(StreamRef stream) {
  constexpr const char* kCall = "StreamProfiler::section";
  WatchedStream& watched = impl_->find(stream, kCall);
  if (!watched.watched()) throw make_error(kCodeInvalidHandle, kCall, "the stream is not watched");
  watched.begin_section();
  return Section(&watched);
}

StreamProfiler::Section::Section(void* watched) : watched_(watched) {}

StreamProfiler::Section::~Section() { static_cast<WatchedStream*>(watched_)->end_section(); }

StreamReport StreamProfiler::report(StreamRef stream) {
  return impl_->find(stream, "StreamProfiler::report").report();
}

ProfileReport StreamProfiler::report() { return impl_->report(); }

}  // namespace coord
