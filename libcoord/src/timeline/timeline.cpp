// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The public interface of a TimelineSignal; its construction and destruction.

#include "coord/timeline.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "codes.h"
#include "timeline_impl.h"

namespace coord {

namespace {

// Memory that a device may read until the process ends.
void keep_for_ever(HostBuffer<std::uint64_t> memory) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<HostBuffer<std::uint64_t>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(memory));
}

}  // namespace

std::uint64_t TimelineSignal::Impl::next_number() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1);
}

TimelineSignal::Impl::Impl(std::optional<Device> device, const TimelineOptions& options)
    : name_(options.name), imported_(false), device_(std::move(device)) {
  if (options.shared) {
    share_name_ = "/coord-timeline-" + std::to_string(getpid()) + "-" + std::to_string(number_);
    const int file = shm_open(share_name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(TimelineWord)) != 0) {
      const std::string why = std::strerror(errno);
      if (file >= 0) close(file);
      throw make_error(kCodeUnknown, "TimelineSignal", "cannot create shared memory: " + why);
    }
    map(file);
    new (word_) TimelineWord();
    word_->owner_process = getpid();
  } else {
    word_ = new TimelineWord();
  }
  word_->completed.store(options.initial);
  word_->promised.store(options.initial);
  start({.name = name_});
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
    throw make_error(kCodeInvalidHandle, kCall, "\"" + share_name + "\" is not a timeline");
  start({});
}

void TimelineSignal::Impl::start(const EventPoolOptions& events) {
  if (device_) events_ = std::make_unique<EventPool>(*device_, events);
  source_ = std::make_unique<WaitGraphSource>([this](WaitGraph& graph) { notify_waits(graph); });
  if (device_) poller_ = std::make_unique<PollClient>([this] { return poll_once(); });
  if (observer().timeline == nullptr) return;
  const coord_timeline_facts facts{static_cast<std::uint32_t>(number_), 0, word_->completed.load(),
                                   name_.c_str()};
  observer().timeline(&facts);
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
    // Streams may not have read it yet, and only the device knows when they have.
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

std::string TimelineSignal::Impl::share_name() const {
  if (share_name_.empty() || imported_)
    throw make_error(kCodeNotPermitted, "TimelineSignal::share_name",
                     "the timeline was not created as shared");
  return share_name_;
}

// The public class

TimelineSignal::TimelineSignal(const TimelineOptions& options)
    : TimelineSignal(std::make_unique<Impl>(std::nullopt, options)) {}

TimelineSignal::TimelineSignal(const Device& device, const TimelineOptions& options)
    : TimelineSignal(std::make_unique<Impl>(device, options)) {}

TimelineSignal::TimelineSignal(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)), completed_(&impl_->word().completed) {}

TimelineSignal::~TimelineSignal() = default;

std::uint64_t TimelineSignal::signaled() const noexcept { return impl_->signaled(); }

void TimelineSignal::signal(StreamRef stream, std::uint64_t value) { impl_->signal(stream, value); }
bool TimelineSignal::try_wait(std::uint64_t value) { return impl_->try_wait(value); }
void TimelineSignal::wait(std::uint64_t value) {
  (void)impl_->wait(value, std::numeric_limits<std::int64_t>::max());
}
bool TimelineSignal::wait_for(std::uint64_t value, Nanoseconds limit) {
  return impl_->wait(value, limit.count());
}
void TimelineSignal::wait(StreamRef stream, std::uint64_t value) { impl_->wait(stream, value); }
void TimelineSignal::fail(const std::exception_ptr& error) { impl_->fail(error); }
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
