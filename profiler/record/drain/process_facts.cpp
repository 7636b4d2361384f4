// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a process reports about itself and its recording: everything except calls and work.
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>

#include "process_drain.h"
#include "record/rows/rank_claims.h"
#include "ring/losses.h"
#include "trace/loss.h"

namespace streamscope::record {
namespace {

std::string joined(std::string text, char separator) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', separator);
  return text;
}

std::string_view overhead_name(uint16_t kind) {
  constexpr std::pair<uint16_t, std::string_view> kNames[] = {
      {1, "driver compiler"},
      {0x8001, "CUPTI buffer flush"},
      {0x8002, "CUPTI instrumentation"},
      {0x8003, "CUPTI resource"},
      {0x8004, "runtime-triggered module loading"},
      {0x8005, "lazy function loading"},
      {0x8006, "command buffer full"},
      {0x8007, "activity buffer request"},
      {0x8008, "UVM activity setup"},
  };
  for (const auto& [number, name] : kNames) {
    if (number == kind) return name;
  }
  return "other overhead";
}

}  // namespace

void ProcessDrain::describe(const ring::ProcessRecord& record) {
  row_.parent_os_pid = static_cast<trace::Small>(record.parent_pid);
  // Comes again if what records is known only later.
  if (row_.clock != trace::kVirtualClock && row_.start_ns == trace::kUnknownNs)
    row_.start_ns = run_.to_ns(record.begin, record.flags);
  run_.writer.update(id_, row_);
  texts_to_come_ = record;
  texts_complete_ = false;
}

void ProcessDrain::fill_process_texts(bool at_end) {
  if (texts_complete_) return;
  const ring::ProcessRecord& record = texts_to_come_;
  const auto text = [&](ring::TextHash hash) {
    return hash == 0 ? nullptr : run_.texts.find(hash);
  };
  for (ring::TextHash hash : {record.executable, record.command_line, record.environment,
                              record.host, record.collector}) {
    if (hash != 0 && text(hash) == nullptr && !at_end) return;
  }
  const auto intern = [&](const std::string& value) { return run_.writer.intern(value); };
  if (const std::string* path = text(record.executable)) {
    row_.executable_id = intern(*path);
    row_.name_id = intern(std::filesystem::path(*path).filename().string());
  }
  if (const std::string* line = text(record.command_line))
    row_.command_line_id = intern(joined(*line, ' '));
  if (const std::string* variables = text(record.environment)) {
    row_.environment_id = intern(joined(*variables, '\n'));
    fill_rank(*variables);
  }
  if (const std::string* host = text(record.host)) row_.host_id = intern(*host);
  if (const std::string* collector = text(record.collector)) row_.collector_id = intern(*collector);
  run_.writer.update(id_, row_);
  texts_complete_ = true;
}

void ProcessDrain::fill_rank(std::string_view environment) {
  const RankClaim claim =
      read_rank([&](std::string_view name) { return value_in(environment, name); });
  if (!claim.is_known() || row_.rank != trace::kNoSmall) return;
  const auto number = [](int32_t value) { return value < 0 ? trace::kNoSmall : value; };
  row_.rank = claim.rank;
  row_.world_size = number(claim.world_size);
  row_.local_rank = number(claim.local_rank);
  row_.rank_source_id = run_.writer.intern(claim.source);
  if (const std::string text = rank_contradiction(environment); !text.empty())
    contradict_rank(text);
}

void ProcessDrain::contradict_rank(const std::string& text) {
  run_.losses.add(id_, trace::kRankContradiction, 1, trace::kUnknownNs, trace::kUnknownNs,
                  run_.writer.intern(text));
}

void ProcessDrain::describe(const ring::LossRecord& record) {
  const auto loss = static_cast<ring::Loss>(record.loss);
  const auto stamp = [&](uint64_t ticks) {
    return ticks == 0 ? trace::kUnknownNs : run_.to_ns(ticks, record.flags);
  };
  const std::string_view name = ring::loss_name(loss);
  if (name.empty()) return invalid();
  run_.losses.add(id_, name, static_cast<int64_t>(record.count), stamp(record.first),
                  stamp(record.last), run_.texts.id(record.detail));
  note_unseen_thread(record);
}

void ProcessDrain::note_unseen_thread(const ring::LossRecord& record) {
  if (static_cast<ring::Loss>(record.loss) == ring::Loss::kNoThreadRing)
    calls_.lose_history(0, kNoLimit);
}

void ProcessDrain::describe(const ring::SyncWitnessRecord& record) {
  run_.writer.append(
      trace::SyncWitness{.process_id = id_,
                         .correlation_id = record.correlation_id,
                         .act = record.act,
                         .sync_id = static_cast<trace::Int>(record.sync_id),
                         .device_ns = run_.device_ns(record.device_ns, record.flags)});
}

void ProcessDrain::describe(const ring::OverheadRecord& record) {
  run_.writer.append(trace::Overhead{
      .process_id = id_,
      .thread_id = record.tid != ring::kNone32 ? objects_.thread(record.tid) : trace::kNoId,
      .name_id = run_.writer.intern(overhead_name(record.overhead_kind)),
      .start_ns = run_.device_ns(record.begin_ns, record.flags),
      .end_ns = run_.device_ns(record.end_ns, record.flags)});
}

// Calls made while recording is off are unknown, so earlier records of an event mean nothing
// afterwards.
void ProcessDrain::describe(const ring::CollectingRecord& record) {
  const uint64_t stamp =
      (record.flags & ring::kVirtualTime) != 0 ? record.call_number : record.begin;
  if (record.on == ring::kHistoryOverwritten) return calls_.lose_history(0, stamp);
  if (!cost_windows_.describe(record)) return;
  const trace::Ns at = run_.to_ns(record.begin, record.flags);
  if (record.on != 0) {
    calls_.lose_history(off_since_, stamp);
    work_.resume(at);
  } else {
    off_since_ = stamp;
    work_.pause(at);
  }
  const bool pause = record.on == 0 && record.measuring == 0;
  if (pause == paused_) return;
  paused_ = pause;
  if (pause) {
    paused_since_ns_ = at;
    return;
  }
  if (!run_.options.on_demand) run_.losses.add_pause(id_, std::min(paused_since_ns_, at), at);
}

void ProcessDrain::describe(const ring::EndRecord& record) {
  said_goodbye_ = true;
  if (row_.clock != trace::kVirtualClock) row_.end_ns = run_.to_ns(record.begin, record.flags);
}

std::vector<ring::Question> ProcessDrain::questions(uint32_t round) {
  coord_waits_.forget();
  // A simulated device itself detects when it can never continue.
  return questions_.ask(round, row_.clock != trace::kVirtualClock);
}

void ProcessDrain::count_stacks() {
  for (const auto& lane : lanes_) {
    const ring::RingHeader& header = lane->ring.header();
    const uint64_t begin = header.anchor.ticks;
    const uint64_t cost = header.stack_ticks.load(std::memory_order_relaxed);
    run_.stack_count += static_cast<int64_t>(header.stacks.load(std::memory_order_relaxed));
    run_.stack_ns += run_.clock.to_ns(begin + cost) - run_.clock.to_ns(begin);
  }
  if (run_.stack_count == 0) return;
  run_.writer.set_meta("stack_count", run_.stack_count);
  run_.writer.set_meta("stack_ns", run_.stack_ns);
}

std::string_view ProcessDrain::end_loss() const {
  if (row_.exit_signal != trace::kNoSmall) return "process-ended-abruptly";
  if (row_.exit_code != trace::kNoSmall || replaced_) return "exit-handlers-skipped";
  return "process-end-unknown";
}

void ProcessDrain::set_exit(int wait_status) {
  if (WIFEXITED(wait_status)) row_.exit_code = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) row_.exit_signal = WTERMSIG(wait_status);
  run_.writer.update(id_, row_);
  if (reported_end_.empty()) return;
  run_.losses.rename(id_, reported_end_, end_loss());
  reported_end_ = end_loss();
}

}  // namespace streamscope::record
