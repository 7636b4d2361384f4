// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Profiles of PyTorch (Kineto, since 2021, CUDA and HIP), and Chrome traces of any other tool,
// whose events become ranges.
//
// Device work has device and stream, not process: that is the one whose call has its correlation
// id. A wait names its record by that call (CUDA); Kineto only guesses it, so pairing.h decides
// whether it can be another one. A HIP profile says only that waits were called.

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <string>

#include "assembly.h"
#include "importer.h"
#include "kineto_collectives.h"
#include "kineto_events.h"
#include "trace/error.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"
#include "vocabulary/system_call.h"

namespace streamscope::import {
namespace {

constexpr Int kNone32 = 0xffffffff;    // "not applicable", also as -1
constexpr Ns kLatestNs = Ns{1} << 61;  // 73 years: epoch times fit, sums do not overflow

constexpr std::string_view kStepOfProfiler = "ProfilerStep#";

// Built-in functions of Python in which a thread waits, by what their names contain; the first that
// is found.
constexpr std::pair<std::string_view, Small> kWaitingFunctions[] = {
    {" sleep", SystemCall::clock_nanosleep}, {" acquire of _thread", SystemCall::futex},
    {" poll of select", SystemCall::ppoll},  {" select", SystemCall::pselect6},
    {" wait of select", SystemCall::ppoll},  {" recv", SystemCall::recvfrom},
};

enum class Category {
  kHost,  // ranges of host threads: operators, annotations, any other tool's
  kPython,
  kCall,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kRecord,
  kOverhead,
  kDeviceRange,  // shadows of annotations on streams
  kSpan,         // the profiler's own lifetime
};

// Names of 2021 are the current ones without underscores, capitalized.
Category category_of(std::string_view name) {
  struct Row {
    std::string_view name;
    Category category;
  };
  static constexpr Row kRows[] = {
      {"kernel", Category::kKernel},     {"Kernel", Category::kKernel},
      {"gpu_memcpy", Category::kMemcpy}, {"Memcpy", Category::kMemcpy},
      {"gpu_memset", Category::kMemset}, {"Memset", Category::kMemset},
      {"cuda_runtime", Category::kCall}, {"Runtime", Category::kCall},
      {"cuda_driver", Category::kCall},  {"hip_runtime", Category::kCall},
      {"hip_driver", Category::kCall},   {"cuda_sync", Category::kSync},
      {"cuda_event", Category::kRecord}, {"python_function", Category::kPython},
      {"overhead", Category::kOverhead}, {"gpu_user_annotation", Category::kDeviceRange},
      {"Trace", Category::kSpan},
  };
  const auto row = std::ranges::find(kRows, name, &Row::name);
  return row == std::end(kRows) ? Category::kHost : row->category;
}

Int or_none(Int number) { return number == kNone32 || number < 0 ? kNoInt : number; }

// Converts "Memcpy HtoD (Pageable -> Device)" to the numbers of op.detail and op.memory_kinds.
void read_copy_name(std::string_view name, trace::Op& op) {
  op.detail = 0;
  for (const Term& direction : kCopyKinds) {
    if (name.find(direction.name) != name.npos) op.detail = direction.number;
  }
  const auto kind = [&](std::string_view text) -> Small {
    const auto found = std::ranges::find(kMemoryKinds, text,
                                         [](const Term& term) { return kineto_name(term.name); });
    return found == std::end(kMemoryKinds) ? 0 : found->number;
  };
  const size_t open = name.find('('), arrow = name.find(" -> "), close = name.rfind(')');
  if (open == name.npos || arrow == name.npos || close == name.npos || arrow < open ||
      close < arrow)
    return;
  op.memory_kinds = static_cast<Small>(kind(name.substr(open + 1, arrow - open - 1)) << 4 |
                                       kind(name.substr(arrow + 4, close - arrow - 4)));
}

class KinetoReader {
 public:
  explicit KinetoReader(Assembly& assembly) : assembly_(assembly) {}

  void read(const std::filesystem::path& file) {
    Text text = read_text(file, most_json_bytes(), json_padding());
    const JsonFacts facts =
        read_events(file, text, [this](const JsonEvent& event) { take(event); });
    if (facts.event_count == 0 && facts.bad_count > 0)
      throw Error(file, "is JSON but not a profile: its elements are not events", "check the name");
    if (facts.truncated) assembly_.losses().add("import-truncated");
    assembly_.losses().add("record-invalid", facts.bad_count + invalid_);
    set_start(facts);
    place_device_work();
    close_open_ranges();
    name_objects(facts);
    for (const auto& [what, count] : not_understood_)
      assembly_.losses().add("import-not-understood", count, kNoId, what);
    assembly_.set_origin(saw_cuda_ ? "kineto" : "chrome");
    if (saw_cuda_) assembly_.sample_functions(std::move(frames_of_ranges_));
  }

 private:
  // Location of device work and synchronizations, until all calls are known.
  struct Place {
    Int device, context, stream;
    auto operator<=>(const Place&) const = default;
  };
  struct Work {
    trace::Op op;
    Place place;
  };
  struct WorkOfCollective {
    size_t work;  // index into work_
    trace::CollectiveCall call;
  };
  struct PendingAct {
    Act act;
    Place place;
    Int record_stream;
    bool is_record;
  };

  // An id that is not a number gets a negative one; os_tid is then unknown, the text is its name.
  Int number_of(const JsonId& id) {
    if (id.number != kNoInt && id.number >= 0) return id.number;
    const auto [known, is_new] =
        texts_.try_emplace(std::string(id.text), -static_cast<Int>(texts_.size()) - 2);
    if (is_new) named_[known->second] = assembly_.intern(id.text);
    return known->second;
  }
  Id thread_of(const JsonEvent& event) {
    const std::pair key{number_of(event.pid), number_of(event.tid)};
    if (key == last_thread_key_ && last_thread_ != kNoId) return last_thread_;
    const Id process = assembly_.process(key.first);
    last_thread_ = assembly_.thread(process, key.second);
    last_thread_key_ = key;
    threads_.insert({key, last_thread_});
    return last_thread_;
  }

  bool interval(const JsonEvent& event, Ns& start, Ns& end) {
    const Ns length = event.duration_ns == kUnknownNs ? 0 : event.duration_ns;
    if (event.start_ns <= -kLatestNs || event.start_ns >= kLatestNs || length < 0 ||
        length >= kLatestNs) {
      ++invalid_;
      return false;
    }
    start = event.start_ns;
    end = start + length;
    earliest_ns_ = std::min(earliest_ns_, start);
    return true;
  }

  void take(const JsonEvent& event) {
    switch (event.phase) {
      case 'X':
        return take_complete(event);
      case 'B':
      case 'E':
        return take_half(event);
      case 'i':
      case 'I':
      case 'R':
        return take_instant(event);
      case 'M':
        return take_metadata(event);
      case 's':
      case 't':
      case 'f':
        // Arrows from calls to their work repeat the correlation ids.
        if (event.category != "ac2g" && event.category != "async") ++not_understood_["flow events"];
        return;
      case 0:
        ++invalid_;
        return;
      default:
        ++not_understood_[std::string("events of phase ") +
                          (std::isprint(static_cast<unsigned char>(event.phase)) != 0 ? event.phase
                                                                                      : '?')];
    }
  }

  void take_complete(const JsonEvent& event) {
    const Category category = category_of(event.category);
    Ns start, end;
    if (category == Category::kSpan) return;
    if (!interval(event, start, end)) return;
    switch (category) {
      case Category::kCall:
        saw_cuda_ = true;
        assembly_.add(Call{.start_ns = start,
                           .end_ns = end,
                           .correlation = event.correlation,
                           .thread = thread_of(event),
                           .name = assembly_.name_call(event.name)});
        break;
      case Category::kKernel:
      case Category::kMemcpy:
      case Category::kMemset:
        saw_cuda_ = true;
        take_work(event, category, start, end);
        break;
      case Category::kSync:
      case Category::kRecord:
        take_act(event, category == Category::kRecord);
        break;
      case Category::kOverhead: {
        const Id thread = thread_of(event);
        assembly_.add(trace::Overhead{.process_id = assembly_.thread_row(thread).process_id,
                                      .thread_id = thread,
                                      .name_id = assembly_.intern(event.name),
                                      .start_ns = start,
                                      .end_ns = end});
        break;
      }
      case Category::kPython: {
        const trace::Range range = host_range(event, start, end);
        assembly_.add(range);
        take_function(event, start, end);
        take_builtin(event, range.name_id);
        break;
      }
      case Category::kDeviceRange:
        ++not_understood_["annotations drawn on streams"];
        break;
      default: {
        const trace::Range range = host_range(event, start, end);
        assembly_.add(range);
        if (!event.name.starts_with(kStepOfProfiler))
          frames_of_ranges_.try_emplace(range.name_id, frame_of_range(event, range.name_id));
        take_call_stack(event, start, end);
        if (auto call = collective_of_annotation(event, assembly_)) {
          call->thread_id = thread_of(event);
          call->start_ns = start;
          call->end_ns = end;
          assembly_.add(*call);
        }
      }
    }
  }

  // "train.py(41): step" as the frame "train.py:41 step". The line is the one where the function
  // begins, or, in a call stack, the one that runs. Frames without a file are not in the program's
  // source: built-in functions, modules.
  std::optional<Frame> frame_of(std::string_view name) {
    const size_t close = name.find("): ");
    const size_t open = close == name.npos ? name.npos : name.rfind('(', close);
    if (open == name.npos || open == 0 || open + 1 == close) return std::nullopt;
    const std::string_view line = name.substr(open + 1, close - open - 1);
    if (line.find_first_not_of("0123456789") != line.npos) return std::nullopt;
    std::string text(name.substr(0, open));
    text.append(":").append(line).append(" ").append(name.substr(close + 3));
    return Frame{.kind = trace::kPythonFrame, .symbol = assembly_.intern(text)};
  }
  // Operators are functions of PyTorch's library; an annotation stands for a part of the program.
  FrameOfRange frame_of_range(const JsonEvent& event, Id name_id) {
    const bool is_operator = event.category == "cpu_op" || event.category == "Operator";
    return {{.kind = trace::kRangeFrame,
             .symbol = name_id,
             .module = is_operator ? assembly_.intern("libtorch") : kNoId}};
  }
  // Built-in functions are of the interpreter. Their names end with addresses of objects.
  void take_builtin(const JsonEvent& event, Id name_id) {
    constexpr std::string_view kBuiltIn = "<built-in ";
    if (!event.name.starts_with(kBuiltIn) || frames_of_ranges_.contains(name_id)) return;
    const std::string_view name = event.name.substr(0, event.name.find(" object at 0x"));
    FrameOfRange shown{{.kind = trace::kRangeFrame,
                        .symbol = assembly_.intern(name),
                        .module = assembly_.intern("libpython")}};
    const auto waiting = std::ranges::find_if(
        kWaitingFunctions, [&](const auto& each) { return name.find(each.first) != name.npos; });
    if (waiting != std::end(kWaitingFunctions)) shown.system_call = waiting->second;
    frames_of_ranges_.emplace(name_id, shown);
  }
  // Functions are nested by time: "Python parent id" skips some while the profiler starts a step.
  void take_function(const JsonEvent& event, Ns start, Ns end) {
    if (const auto frame = frame_of(event.name)) {
      assembly_.add(Function{.start_ns = start,
                             .end_ns = end,
                             .thread = thread_of(event),
                             .stack = assembly_.stacks().push(kNoId, *frame)});
    }
  }
  // Before 2022 operators had the stack from which they were called, and functions no events.
  void take_call_stack(const JsonEvent& event, Ns start, Ns end) {
    std::vector<Frame> frames;
    for (std::string_view rest = event.call_stack; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (const auto frame = frame_of(name)) frames.push_back(*frame);
    }
    if (frames.empty()) return;
    assembly_.add(Function{.start_ns = start,
                           .end_ns = end,
                           .thread = thread_of(event),
                           .stack = assembly_.stacks().stack(frames),
                           .complete = true});
  }

  trace::Range host_range(const JsonEvent& event, Ns start, Ns end) {
    return {.thread_id = thread_of(event),
            .kind = trace::kPushPop,
            .domain_id = domain_of(event),
            .name_id = assembly_.intern(event.name),
            .start_ns = start,
            .end_ns = end};
  }
  Id domain_of(const JsonEvent& event) {
    return event.category.empty() ? kNoId : assembly_.intern(event.category);
  }

  void take_half(const JsonEvent& event) {
    Ns start, end;
    if (!interval(event, start, end)) return;
    std::vector<trace::Range>& open = open_[thread_of(event)];
    if (event.phase == 'B') {
      open.push_back(host_range(event, start, kUnknownNs));
    } else if (open.empty()) {
      ++not_understood_["ends without a begin"];
    } else {
      trace::Range range = open.back();
      open.pop_back();
      range.end_ns = std::max(start, range.start_ns);
      assembly_.add(range);
    }
  }
  void close_open_ranges() {
    for (const auto& [thread, ranges] : open_) {
      for (const trace::Range& range : ranges) assembly_.add(range);
    }
  }

  // "Iteration Start" of the process "Traces", and the like.
  static bool is_of_profiler(const JsonEvent& event) {
    return event.category.empty() && event.pid.number == kNoInt &&
           (!event.pid.text.empty() || event.name == "Record Window End");
  }
  void take_instant(const JsonEvent& event) {
    Ns start, end;
    if (is_of_profiler(event)) return;
    if (!interval(event, start, end)) return;
    assembly_.add(trace::Mark{.thread_id = thread_of(event),
                              .domain_id = domain_of(event),
                              .name_id = assembly_.intern(event.name),
                              .start_ns = start});
  }

  void take_metadata(const JsonEvent& event) {
    if (event.name == "process_name") process_names_[number_of(event.pid)] = event.arg_name;
    if (event.name == "thread_name")
      thread_names_[{number_of(event.pid), number_of(event.tid)}] = event.arg_name;
    if (event.stream != kNoInt && event.stream_kind >= trace::kLegacyStream &&
        event.stream_kind <= trace::kUnknownStream) {
      stream_facts_[place_of(event)] = {std::string(event.stream_name),
                                        static_cast<Small>(event.stream_kind)};
    }
  }

  static Place place_of(const JsonEvent& event) {
    // The event also uses the device as its process id.
    const Int device = event.device != kNoInt ? event.device : or_none(event.pid.number);
    return {or_none(device), or_none(event.context), or_none(event.stream)};
  }

  void take_work(const JsonEvent& event, Category category, Ns start, Ns end) {
    trace::Op op{.start_ns = start,
                 .end_ns = end,
                 .correlation_id = event.correlation,
                 .graph_node = event.graph_node != 0 ? event.graph_node : kNoInt,
                 .channel = small(event.channel)};
    if (category == Category::kKernel) {
      op.kind = trace::kKernel;
      if (const auto call = collective_of_kernel(event, assembly_))
        collectives_.push_back({work_.size(), *call});
      op.name_id = assembly_.intern(event.name);
      op.launch_shape_id = assembly_.launch_shape({.grid_x = small(event.grid[0]),
                                                   .grid_y = small(event.grid[1]),
                                                   .grid_z = small(event.grid[2]),
                                                   .block_x = small(event.block[0]),
                                                   .block_y = small(event.block[1]),
                                                   .block_z = small(event.block[2]),
                                                   .registers = small(event.registers),
                                                   .dynamic_shared_bytes = event.shared_bytes});
    } else {
      op.bytes = event.bytes;
      op.kind = category == Category::kMemcpy ? trace::kMemcpy : trace::kMemset;
      if (category == Category::kMemcpy) read_copy_name(event.name, op);
    }
    work_.push_back({op, place_of(event)});
  }
  static Small small(Int number) {
    return number == kNoInt || number < 0 || number > std::numeric_limits<Small>::max()
               ? kNoSmall
               : static_cast<Small>(number);
  }

  void take_act(const JsonEvent& event, bool is_record) {
    acts_.push_back({.act = {.correlation = event.correlation,
                             .event = or_none(is_record ? event.event : event.waited_event),
                             .record_correlation = or_none(event.record_correlation)},
                     .place = place_of(event),
                     .record_stream = or_none(event.record_stream),
                     .is_record = is_record});
  }

  // Times become relative to the first event of any kind.
  void set_start(const JsonFacts& facts) {
    if (earliest_ns_ == kNothingSeen) return;
    assembly_.set_start(earliest_ns_);
    // Before 2023 times counted from 1970 without a base.
    constexpr Ns kYear2001Ns = 1'000'000'000'000'000'000;
    const Ns base = facts.base_ns == kUnknownNs ? 0 : facts.base_ns;
    if (facts.base_ns != kUnknownNs || earliest_ns_ > kYear2001Ns)
      assembly_.writer().set_meta(
          "trace_start_realtime_ns",
          static_cast<Int>(static_cast<uint64_t>(base) + static_cast<uint64_t>(earliest_ns_)));
  }

  Id process_of(Int correlation) {
    if (assembly_.only_process() != kNoId) return assembly_.only_process();
    const Id process = correlation == kNoInt ? kNoId : assembly_.process_of_call(correlation);
    if (process != kNoId) return process;
    const Id busiest = assembly_.busiest_process();
    return busiest != kNoId ? busiest : assembly_.process(0);
  }
  Id context_of(Id process, const Place& place) {
    Id device = kNoId;
    if (place.device != kNoInt) {
      device = assembly_.device(place.device);
      assembly_.device_row(device).ordinal = small(place.device);
    }
    return assembly_.context(process, place.context, device);
  }
  Id stream_of(Id context, const Place& place) {
    const Id id = assembly_.stream(context, place.stream);
    if (const auto facts = stream_facts_.find(place); facts != stream_facts_.end()) {
      trace::Stream& row = assembly_.stream_row(id);
      row.kind = facts->second.kind;
      if (!facts->second.name.empty()) row.name_id = assembly_.intern(facts->second.name);
    }
    return id;
  }
  void place_device_work() {
    std::map<std::pair<Id, Place>, Id> streams;
    for (Work& work : work_) {
      const Id process = process_of(work.op.correlation_id);
      const auto [known, is_new] = streams.try_emplace({process, work.place}, kNoId);
      if (is_new) known->second = stream_of(context_of(process, work.place), work.place);
      work.op.stream_id = known->second;
      assembly_.add(work.op);
    }
    for (const auto& [work, call] : collectives_) {
      const Int correlation = work_[work].op.correlation_id;
      assembly_.add(call, process_of(correlation), correlation);
    }
    for (PendingAct& pending : acts_) {
      Act& act = pending.act;
      act.process = process_of(act.correlation);
      act.context = context_of(act.process, pending.place);
      if (pending.place.stream != kNoInt) act.stream = stream_of(act.context, pending.place);
      if (pending.record_stream != kNoInt) {
        act.record_stream = stream_of(
            act.context, {pending.place.device, pending.place.context, pending.record_stream});
      }
      pending.is_record ? assembly_.add_record(act) : assembly_.add_look(act);
    }
  }

  void name_objects(const JsonFacts& facts) {
    // The name given, or the text that the file has instead of a number.
    const auto name = [&](const auto& names, const auto& key, Int number, Id& name_id) {
      if (const auto given = names.find(key); given != names.end()) {
        name_id = assembly_.intern(given->second);
      } else if (const auto text = named_.find(number); text != named_.end()) {
        name_id = text->second;
      }
    };
    if (facts.rank >= 0)
      assembly_.set_rank(
          {small(facts.rank), facts.world_size > 0 ? small(facts.world_size) : -1, -1, "kineto"});
    for (auto& [pid, text] : process_names_) {
      if (facts.rank != kNoInt) text += " (rank " + std::to_string(facts.rank) + ")";
    }
    for (const auto& [key, thread] : threads_) {
      const auto& [pid, tid] = key;
      const Id process = assembly_.thread_row(thread).process_id;
      trace::Process& process_row = assembly_.process_row(process);
      process_row.collector_id = assembly_.intern(saw_cuda_ ? "kineto" : "chrome");
      name(process_names_, pid, pid, process_row.name_id);
      trace::Thread& row = assembly_.thread_row(thread);
      name(thread_names_, key, tid, row.name_id);
      if (pid < 0) process_row.os_pid = kNoSmall;
      if (tid < 0) row.os_tid = kNoSmall;
    }
    for (const JsonDevice& device : facts.devices) {
      const Id id = assembly_.find_device(device.id);
      if (id == kNoId) continue;
      trace::Device& row = assembly_.device_row(id);
      row.name_id = assembly_.intern(device.name);
      row.memory_bytes = device.memory_bytes;
      row.sm_count = small(device.sm_count);
      if (device.major >= 0 && device.major < 1000 && device.minor >= 0 && device.minor < 10)
        row.compute_capability = static_cast<Small>(device.major * 10 + device.minor);
    }
  }

  static constexpr Ns kNothingSeen = std::numeric_limits<Ns>::max();

  Assembly& assembly_;
  bool saw_cuda_ = false;
  uint64_t invalid_ = 0;
  Ns earliest_ns_ = kNothingSeen;
  std::map<std::string, uint64_t> not_understood_;
  std::map<std::string, Int> texts_;  // ids that are not numbers
  std::map<Int, Id> named_;           // what they read
  std::map<std::pair<Int, Int>, Id> threads_;
  std::pair<Int, Int> last_thread_key_{};
  Id last_thread_ = kNoId;
  std::map<Int, std::string> process_names_;
  std::map<std::pair<Int, Int>, std::string> thread_names_;
  struct StreamFacts {
    std::string name;
    Small kind = trace::kUnknownStream;
  };
  std::map<Place, StreamFacts> stream_facts_;
  std::map<Id, std::vector<trace::Range>> open_;
  std::unordered_map<Id, FrameOfRange> frames_of_ranges_;  // by name
  std::vector<Work> work_;
  std::vector<WorkOfCollective> collectives_;
  std::vector<PendingAct> acts_;
};

}  // namespace

bool sniff_kineto(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("\x1f\x8b")) return true;
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '{' || text[first] == '[');
}

void read_kineto(const std::filesystem::path& file, Assembly& assembly) {
  KinetoReader(assembly).read(file);
}

}  // namespace streamscope::import
