// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "drain.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include "record/recovery/restore.h"
#include "record/rows/rank_claims.h"
#include "record/run/files.h"
#include "record/run/rings_folder.h"
#include "ring/image.h"
#include "trace/checks.h"
#include "trace/folder_names.h"
#include "trace/loss.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;

// GPU times may be as old as the flush interval of CUPTI's buffers; there is no need to store rows
// more often.
constexpr auto kFlushInterval = 100ms;
constexpr auto kLookForEndedInterval = 20ms;
constexpr auto kAwaitedInterval = 1s;  // programs wait at both ends of a part of them
// A thread that makes a million records a second fills a sixth of its ring meanwhile.
constexpr auto kReliefInterval = 20ms;
// Rows are stored earlier if they take more memory than this, or if a ring is about to fill up.
constexpr size_t kBufferedBytes = 8 << 20;
constexpr double kRingShare = 0.25;
// A folder's time stamp has the resolution of a timer tick.
constexpr auto kScanGrace = 50ms;
// What a program reports while nothing is recorded must not keep a part from ending.
constexpr auto kLongestHandOver = 2s;

constexpr char kPositionsKey[] = "ring_positions";
// Number of the file of held-back ops; 0: there is none.
constexpr char kHeldKey[] = "held_ops";
constexpr char kNumbersKey[] = "call_numbers";
constexpr char kJournalFile[] = "names";

/// Reads numbers that are each followed by a character, as in file names.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : rest_(name) {}
  template <class Number>
  bool number(Number& value, char after) {
    const auto [next, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<size_t>(next - rest_.data());
    if (error != std::errc() || length >= rest_.size() || *next != after) return false;
    rest_.remove_prefix(length + 1);
    return true;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// PID-START-INDEX.ring
std::optional<ProcessIdentity> identity_of_ring(const std::string& name) {
  NameReader reader(name);
  ProcessIdentity identity;
  uint32_t index = 0;
  if (!reader.number(identity.pid, '-') || !reader.number(identity.start, '-') ||
      !reader.number(index, '.') || reader.rest() != "ring")
    return std::nullopt;
  identity.image = index / ring::kRingsPerImage;
  return identity;
}

/// Throws Error if a ring that belongs to this user cannot be read: it is kept for a later attempt.
void expect_readable(const std::filesystem::path& file, int failure) {
  check_shortage(file, failure);
  struct stat facts {};
  if (failure == 0 || failure == ENOENT ||
      (::stat(file.c_str(), &facts) == 0 && facts.st_uid != ::geteuid()))
    return;
  throw file_error(file, "read", failure);
}

// True for a ring whose magic, which is written last, is missing.
bool never_made(const std::filesystem::path& file) {
  char magic[sizeof(ring::RingHeader::magic)] = {};
  std::ifstream(file, std::ios::binary).read(magic, sizeof magic);
  return std::all_of(std::begin(magic), std::end(magic), [](char c) { return c == 0; });
}

}  // namespace

Drain::Drain(std::filesystem::path rings, trace::Writer writer, const Options& options,
             const ring::ClockAnchor& first_anchor)
    : rings_(std::move(rings)),
      writer_(std::move(writer)),
      options_(options),
      run_(writer_, options.clock, options.trace_start_ns, options.run) {
  run_.began = ring::read_clock(options.clock);
  run_.journal.open(rings_ / kJournalFile);
  begin_trace(first_anchor);
  // Signals are handled by the thread that waits for them.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigdelset(&all, SIGBUS);  // ring/guard.h
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    relief_ = std::jthread([this](const std::stop_token& stop) { relieve_rings(stop); });
  } catch (const std::system_error&) {
    // If no thread can be started, only cycles relieve the rings.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Drain::Drain(std::filesystem::path rings, trace::Writer writer, const Options& options,
             const trace::Trace& trace)
    : rings_(std::move(rings)),
      writer_(std::move(writer)),
      options_(options),
      run_(writer_, options.clock, options.trace_start_ns, options.run),
      recovering_(true) {
  if (auto positions = trace.meta.find(kPositionsKey); positions != trace.meta.end()) {
    std::istringstream stream(positions->second);
    std::string name;
    RingPosition position;
    while (stream >> name >> position.records >> position.dropped >> position.process)
      stored_[name] = position;
  }
  run_.stack_count = trace::meta_integer(trace, "stack_count").value_or(0);
  run_.stack_ns = trace::meta_integer(trace, "stack_ns").value_or(0);
  // The trace has only the pid of a process; the names of its rings identify it.
  std::map<trace::Id, ProcessIdentity> identities;
  std::optional<ring::ClockAnchor> earliest;
  for (const std::string& file : trace::names_in(rings_)) {
    const auto identity = identity_of_ring(file);
    if (!identity) continue;
    if (const auto stored = stored_.find(file); stored != stored_.end())
      identities[stored->second.process] = *identity;
    std::string why;
    int failure = 0;
    const auto ring = ring::Consumer::open(rings_ / file, &why, &failure);
    expect_readable(rings_ / file, failure);  // the earliest of them sets the start of the trace
    if (!ring || ring->header().clock != options.clock) continue;
    if (!earliest || ring->header().anchor.ticks < earliest->ticks)
      earliest = ring->header().anchor;
  }
  if (trace.clock_anchor.empty() && earliest) begin_trace(*earliest);
  const auto& anchors = trace.clock_anchor;
  for (size_t i = 0; i < anchors.size(); ++i)
    run_.clock.restore(
        {static_cast<uint64_t>(anchors.ticks[i]), anchors.ns[i], anchors.realtime_ns[i]});
  // Sets the rate if the earlier writer ended before it took a second anchor.
  run_.clock.add(ring::read_anchor(options.clock));
  held_file_ = trace::meta_integer(trace, kHeldKey).value_or(0);
  if (held_file_ > 0) run_.ops.restore(held_file(held_file_));
  processes_ = restore(run_, trace, identities, IdJournal::read(rings_ / kJournalFile));
  if (auto numbers = trace.meta.find(kNumbersKey); numbers != trace.meta.end()) {
    std::istringstream stream(numbers->second);
    trace::Id process = 0;
    uint32_t correlation_id = 0, call_number = 0;
    while (stream >> process >> correlation_id >> call_number) {
      if (process < processes_.size())
        processes_[process]->restore_number(correlation_id, call_number);
    }
  }
  run_.journal.open(rings_ / kJournalFile);
}

void Drain::begin_trace(const ring::ClockAnchor& first_anchor) {
  add_anchor(first_anchor);
  writer_.set_meta(
      "trace_start_realtime_ns",
      first_anchor.realtime_ns - (first_anchor.monotonic_ns - options_.trace_start_ns));
  writer_.set_meta("tier", to_string(options_.run.tier));
  writer_.set_meta("observed_accesses", (options_.run.with & ring::kWithAccesses) != 0 ? 1 : 0);
  writer_.set_meta("kernel_arguments", (options_.run.with & ring::kWithArgs) != 0 ? 1 : 0);
  if (options_.run.tier == Tier::kStructure) run_.losses.add(trace::kNoId, "no-device-times", 1);
}

void Drain::add_anchor(const ring::ClockAnchor& anchor) {
  const auto knot = run_.clock.add(anchor);
  if (!knot) return;
  writer_.append(trace::ClockAnchor{.ticks = static_cast<trace::Int>(knot->ticks),
                                    .ns = knot->ns,
                                    .realtime_ns = knot->realtime_ns});
}

// Its threads ended before the next program of the process created its first ring.
bool Drain::is_replaced(const ProcessDrain& process) const {
  return std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
    return other->identity().is_same_process(process.identity()) &&
           other->identity().image > process.identity().image;
  });
}

// PID-START-IMAGE-CODE.exit
void Drain::take_exit(const std::string& file_name) {
  NameReader reader(file_name);
  ProcessIdentity identity;
  int code = 0;
  if (reader.number(identity.pid, '-') && reader.number(identity.start, '-') &&
      reader.number(identity.image, '-') && reader.number(code, '.'))
    exits_.emplace_back(identity, code);
}

bool Drain::open_ring(const std::filesystem::path& file) {
  std::string why;
  const auto named = identity_of_ring(file.filename().string());
  // Checked before reading: a ring that was incomplete then is complete once its process has ended.
  const bool being_made = named && ring::process_alive(named->pid, named->start);
  int failure = 0;
  auto ring = ring::Consumer::open(file, &why, &failure);
  if (recovering_)
    expect_readable(file, failure);
  else if (!being_made)
    check_shortage(file, failure);
  if (ring && named && ring->header().clock == options_.clock && ring->header().pid == named->pid &&
      ring->header().process_start == named->start) {
    auto process =
        std::ranges::find(processes_, *named, [](auto& each) { return each->identity(); });
    if (process == processes_.end())
      process = processes_.insert(processes_.end(), std::make_unique<ProcessDrain>(run_, *named));
    if ((*process)->finished()) return true;  // by an earlier writer
    const auto stored = stored_.find(file.filename().string());
    (*process)->add_ring(std::move(*ring),
                         stored == stored_.end() ? RingPosition{} : stored->second);
    return true;
  }
  if (!ring && being_made) return false;
  // Its program ended while creating it, so nothing was ever pushed: nothing is lost.
  if (!ring && named && never_made(file)) return true;
  run_.losses.add(trace::kNoId, "ring-torn", 1, trace::kUnknownNs, trace::kUnknownNs,
                  writer_.intern(file.filename().string() + " " +
                                 (why.empty() ? "does not match its name" : why)));
  return true;
}

void Drain::relieve_rings(const std::stop_token& stop) {
  std::unique_lock lock(rings_in_use_);
  while (!stop.stop_requested()) {
    for (auto& process : processes_) process->relieve_rings();
    // Not wait_for: GCC 12's thread sanitizer does not support the call that it makes.
    stopped_.wait_until(lock, stop, std::chrono::system_clock::now() + kReliefInterval,
                        [] { return false; });
  }
}

void Drain::scan() {
  const auto now = Clock::now();
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(rings_, error);
  if (!error && changed == scanned_at_ && unreadable_.empty() && now - last_scan_ > kScanGrace)
    return;
  // What cannot be read now may become readable later, until the end.
  auto names =
      run_.finishing ? std::optional(trace::names_in(rings_)) : trace::try_names_in(rings_);
  if (!names) return;
  if (changed != scanned_at_) last_scan_ = now;
  scanned_at_ = changed;
  std::vector<std::string> found;
  for (std::string& name : *names) {
    if (opened_.contains(name)) continue;
    if (name.ends_with(".ring")) {
      found.push_back(std::move(name));
    } else if (name.ends_with(ring::kExitEnding)) {
      take_exit(name);
      opened_.insert(std::move(name));
    }
  }
  std::ranges::sort(found);  // so that equal runs produce equal traces
  unreadable_.clear();
  for (const std::string& name : found) {
    if (open_ring(rings_ / name)) {
      opened_.insert(name);
    } else {
      unreadable_.push_back(name);
    }
  }
}

size_t Drain::cycle_all(bool look_for_ended) {
  size_t read = 0;
  // Whether a process has ended is checked before its rings are read, so that this read is the last
  // one needed.
  std::vector<bool> ended;
  ended.reserve(processes_.size());
  for (const auto& process : processes_)
    ended.push_back(look_for_ended && !process->finished() && has_ended(*process));
  now_ = 0;
  if (!recovering_) {
    const ring::ClockAnchor anchor = ring::read_anchor(options_.clock);
    now_ = anchor.ticks;
    add_anchor(anchor);
  }
  {
    std::lock_guard lock(rings_in_use_);
    scan();
    for (auto& process : processes_) {
      if (!process->finished()) process->look_first();
    }
    scan();  // threads that have started meanwhile may have created what is used in those found
  }
  for (size_t i = 0; i < processes_.size(); ++i) {
    ProcessDrain& process = *processes_[i];
    if (process.finished()) continue;
    const bool last = recovering_ || (i < ended.size() && ended[i]);
    size_t piece = 0;
    do {
      {
        std::lock_guard lock(rings_in_use_);
        piece = process.cycle(now_, last);
        if (!last) process.relieve_rings();  // the other thread may not get the lock in between
      }
      read += piece;
      if (last) flush_if_due();
    } while (last && piece > 0);
    if (last && !recovering_) finish_process(process, ProcessDrain::Ending::kEnded);
  }
  return read;
}

size_t Drain::cycle() {
  const auto now = Clock::now();
  const bool look = now - last_look_ > kLookForEndedInterval;
  if (look) last_look_ = now;
  const size_t read = cycle_all(look);
  if (!store_for_programs()) flush_if_due();
  return read;
}

bool Drain::is_awaited() const { return Clock::now() - answered_ < kAwaitedInterval; }

// Programs that wait until what they did is stored will read it.
bool Drain::store_for_programs() {
  std::vector<ProcessDrain*> waiting;
  for (auto& process : processes_) {
    if (!process->finished() && process->can_answer_store()) waiting.push_back(process.get());
  }
  if (waiting.empty()) return false;
  for (ProcessDrain* process : waiting) process->name_stacks();
  flush_all();
  for (ProcessDrain* process : waiting) process->answer_store();
  answered_ = Clock::now();
  return true;
}

void Drain::flush_if_due() {
  fullest_ring_ = 0;
  for (const auto& process : processes_)
    fullest_ring_ = std::max(fullest_ring_, process->fullest_ring());
  if (Clock::now() - last_flush_ > kFlushInterval || writer_.buffered_bytes() > kBufferedBytes ||
      fullest_ring_ > kRingShare)
    flush();
}

void Drain::finish_process(ProcessDrain& process, ProcessDrain::Ending ending) {
  for (const auto& [identity, code] : exits_) {
    if (identity == process.identity()) process.set_exit_code(code);
  }
  const bool replaced = ending == ProcessDrain::Ending::kEnded && is_replaced(process);
  process.finish(replaced ? ProcessDrain::Ending::kReplaced : ending);
  run_.ops.store_all();  // before its rings are removed
  flush();
  if (ending == ProcessDrain::Ending::kHandedOver) return;
  // The rings of a replaced program show which programs followed in its process.
  if (replaced && ring::process_alive(process.pid(), process.start())) return;
  std::lock_guard lock(rings_in_use_);
  process.remove_rings();
}

void Drain::set_exit(uint32_t pid, int wait_status) {
  // The last of its programs is the one that ended.
  ProcessDrain* last = nullptr;
  for (auto& process : processes_) {
    if (process->pid() == pid) last = process.get();
  }
  if (last != nullptr) last->set_exit(wait_status);
}

void Drain::flush_all() {
  run_.ops.store_all();
  flush();
}

std::vector<ProcessDrain*> Drain::live_processes() {
  std::vector<ProcessDrain*> live;
  for (auto& process : processes_) {
    if (!process->finished()) live.push_back(process.get());
  }
  return live;
}

void Drain::add_threads(ProcessDrain& process, const std::vector<ThreadSnapshot>& before,
                        const std::vector<ThreadSnapshot>& threads, const SeenStacks& stacks) {
  const trace::Ns at = process.time_of(now());
  for (const ThreadSnapshot& thread : threads) {
    trace::ThreadSample row{
        .thread_id = process.thread(thread.tid, thread.name), .at_ns = at, .state = thread.state};
    const auto earlier = std::ranges::find(before, thread.tid, &ThreadSnapshot::tid);
    if (earlier != before.end()) row.ran_ns = thread.processor_ns - earlier->processor_ns;
    if (const auto seen = stacks.by_tid.find(thread.tid); seen != stacks.by_tid.end())
      row.stack_id = process.add_stack(seen->second);
    if (thread.lock_owner != 0) {
      row.lock_address = static_cast<trace::Int>(thread.lock_address);
      row.lock_owner_id = process.thread(thread.lock_owner, "");
    }
    writer_.append(row);
  }
  if (!stacks.failure.empty()) {
    run_.losses.add(process.row_id(), "threads-not-seen", 1, at, at,
                    writer_.intern(stacks.failure));
  }
}

std::vector<WatchedThread> Drain::issuing_threads() {
  std::vector<WatchedThread> threads;
  for (const ProcessDrain* process : live_processes()) {
    const auto more = process->issuing_threads(now());
    threads.insert(threads.end(), more.begin(), more.end());
  }
  return threads;
}

void Drain::add_samples(const std::vector<HostSample>& samples) {
  for (const HostSample& sample : samples) {
    for (auto& process : processes_) {
      if (process->row_id() == sample.process && !process->finished()) process->add(sample);
    }
  }
}

void Drain::end_samples(uint32_t hz, const Sampler& sampler) {
  writer_.set_meta("sample_hz", int64_t{hz});
  writer_.set_meta("sample_stop_ns", sampler.stopped_ns());
  if (sampler.dropped() > 0)
    run_.losses.add(trace::kNoId, "samples-dropped", static_cast<int64_t>(sampler.dropped()));
}

void Drain::take_answer(uint32_t pid, const ring::AnswerRecord& answer) {
  for (auto& process : processes_) {
    if (process->pid() == pid && !process->finished()) process->take_answer(answer);
  }
}

void Drain::add_hang(ProcessDrain& process, const trace::HangReport& report) {
  trace::append_hang(writer_, process.row_id(), process.time_of(now()), report);
  flush();
}

void Drain::contradict_rank(const std::string& text) {
  run_.losses.add(trace::kNoId, trace::kRankContradiction, 1, trace::kUnknownNs, trace::kUnknownNs,
                  writer_.intern(text));
}

void Drain::store_positions() {
  std::string positions;
  for (const auto& process : processes_) process->describe_positions(positions);
  writer_.set_meta(kPositionsKey, positions);
  std::string numbers;
  for (const auto& process : processes_) process->describe_numbers(numbers);
  if (numbers != stored_numbers_) {
    writer_.set_meta(kNumbersKey, numbers);
    stored_numbers_ = std::move(numbers);
  }
}

std::filesystem::path Drain::held_file(int64_t number) const {
  return rings_ / (std::string(kHeldFile) + std::to_string(number % 2));
}

// Two alternating files: the stored rows name the older one until everything is stored again.
void Drain::save_held_ops() {
  if (run_.ops.held().empty()) {
    writer_.set_meta(kHeldKey, 0);
    return;
  }
  ++held_file_;
  run_.ops.save(held_file(held_file_));
  writer_.set_meta(kHeldKey, held_file_);
}

void Drain::flush() {
  last_flush_ = Clock::now();
  if (last_flush_ - last_settled_ >= kFlushInterval) {
    run_.ops.store_settled();
    last_settled_ = last_flush_;
  }
  run_.losses.store();
  store_positions();
  save_held_ops();
  run_.journal.store();
  writer_.flush();
  std::lock_guard lock(rings_in_use_);
  for (auto& process : processes_)
    process->release(options_.facts != nullptr ? &(*options_.facts)[process->identity()] : nullptr);
}

bool Drain::finish() { return finish(ProcessDrain::Ending::kAbandoned); }

bool Drain::hand_over() { return finish(ProcessDrain::Ending::kHandedOver); }

bool Drain::is_quiet() {
  return std::ranges::all_of(processes_, [](auto& process) {
    return process->finished() || (process->is_paused() && process->unreported_work() == 0);
  });
}

bool Drain::finish(ProcessDrain::Ending of_live) {
  run_.finishing = true;
  const auto until = Clock::now() + kLongestHandOver;
  while (cycle_all(true) > 0) {
    flush_if_due();
    if (of_live == ProcessDrain::Ending::kHandedOver && Clock::now() > until) break;
  }
  bool complete = !recovering_ && !processes_.empty();
  for (auto& process : processes_) {
    if (!process->finished()) {
      const bool alive = !has_ended(*process);
      finish_process(*process, alive ? of_live : ProcessDrain::Ending::kEnded);
      if (alive && !process->complete() && !options_.run.newest_only)
        run_.losses.add(process->row_id(), trace::kEndedEarly, 1);
    }
    complete = complete && process->complete();
  }
  run_.ops.store_all();
  std::vector<trace::Process> rows;
  for (const auto& process : processes_) rows.push_back(process->row());
  for (const RankConflict& conflict : rank_conflicts(rows))
    processes_[conflict.process]->contradict_rank(conflict.text);
  // There was a ring, or there would be no trace: one could not be created.
  if (!recovering_ && processes_.empty() && !options_.run.on_demand)
    run_.losses.add(trace::kNoId, "no-thread-ring", 1);
  if (options_.run.newest_only) {
    run_.losses.add(trace::kNoId, "flight-recorder", 1);
  } else if (recovering_) {
    run_.losses.add(trace::kNoId, "writer-ended-abruptly", 1);
  }
  if (run_.texts.missing() > 0)
    run_.losses.add(trace::kNoId, "string-missing", static_cast<int64_t>(run_.texts.missing()));
  run_.losses.store();
  run_.journal.store();
  for (const char* key : {kPositionsKey, kHeldKey, kNumbersKey}) writer_.erase_meta(key);
  writer_.finish(complete);
  std::error_code ignored;
  for (const int number : {0, 1}) std::filesystem::remove(held_file(number), ignored);
  if (of_live == ProcessDrain::Ending::kHandedOver)
    std::filesystem::remove(rings_ / kJournalFile, ignored);
  return complete;
}

}  // namespace streamscope::record
