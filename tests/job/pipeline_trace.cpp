// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/pipeline_trace.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace streamscope::job {
namespace {

struct Operation {
  Ns start_ns, end_ns;
};

/// One rank in one training step: operations by name, in order.
using Worker = std::map<std::string, std::vector<Operation>>;

/// Writes the operations of one worker so that each comes after those it depends on.
class WorkerWriter {
 public:
  WorkerWriter(const PipelineTrace& trace, int data_rank, int stage, Worker worker)
      : trace_(trace), data_rank_(data_rank), stage_(stage), worker_(std::move(worker)) {
    summary_.identity.rank = trace.rank_of(data_rank, stage);
    summary_.identity.world_size = trace.data * trace.stages;
    summary_.identity.host = "one clock";
    summary_.places = {""};
  }

  /// `start_ns` is that of the step.
  RankSummary write(Ns start_ns) {
    iteration_.start_ns = start_ns;
    const int gathered = add("params-all-gather", 0, kData, -1);
    // The first compute waits for the parameters, besides what it receives.
    if (gathered >= 0) join(gathered);
    write_computes();
    write_end();
    return std::move(summary_);
  }

 private:
  enum Stream : uint32_t {
    kCompute,
    kForwardSend,
    kForwardReceive,
    kBackwardSend,
    kBackwardReceive,
    kData
  };

  struct Compute {
    bool backward;
    size_t index;
    Ns start_ns;
  };

  void write_computes() {
    std::vector<Compute> computes;
    for (const bool backward : {false, true}) {
      const auto& all = worker_[backward ? "backward-compute" : "forward-compute"];
      for (size_t i = 0; i < all.size(); ++i) computes.push_back({backward, i, all[i].start_ns});
    }
    std::ranges::stable_sort(computes, {}, &Compute::start_ns);
    std::vector<int> positions;
    int last[2] = {-1, -1};  // forward, backward compute
    bool began_backward = false;
    for (const Compute& compute : computes) {
      const bool back = compute.backward;
      int receive_after = last[back];
      if (back && !began_backward && positions.size() >= 2) {
        // The first message backward is asked for before the last forward compute.
        receive_after = positions[positions.size() - 2];
      }
      began_backward |= back;
      const int received = add(back ? "backward-recv" : "forward-recv", compute.index,
                               back ? kBackwardReceive : kForwardReceive, receive_after);
      const int position =
          add(back ? "backward-compute" : "forward-compute", compute.index, kCompute, received);
      add(back ? "backward-send" : "forward-send", compute.index,
          back ? kBackwardSend : kForwardSend, position);
      last[back] = position;
      positions.push_back(position);
    }
    last_compute_ = positions.empty() ? -1 : positions.back();
  }

  void write_end() {
    int before = last_compute_;
    for (const char* name : {"gc", "layernorm-grads-all-reduce", "embedding-grads-all-reduce",
                             "grads-reduce-scatter", "optimizer-clip-main-grad", "optimizer"}) {
      const bool reduces = std::string_view(name) == "grads-reduce-scatter";
      const int position = add(name, 0, reduces ? kData : kCompute, before);
      if (position >= 0) before = position;
    }
    iteration_.segments.push_back({before, {}, 0, 0});
    iteration_.end_ns = before < 0 ? iteration_.start_ns : iteration_.collectives[before].end_ns;
    summary_.iterations = {std::move(iteration_)};
  }

  /// What tells the communicators of one kind apart.
  std::string members_of(const std::string& name) const {
    if (name == "params-all-gather" || name == "grads-reduce-scatter") {
      return fmt::format("stage {}", stage_);
    }
    if (name == "embedding-grads-all-reduce") return fmt::format("data {}", data_rank_);
    if (name == "optimizer-clip-main-grad") return "all";
    if (name.ends_with("-send") || name.ends_with("-recv")) return "all";
    return fmt::format("rank {}", summary_.identity.rank);
  }

  /// Adds operation `index` of that name. Its position; -1 if there is none.
  int add(const std::string& name, size_t index, Stream stream, int after) {
    const auto found = worker_.find(name);
    if (found == worker_.end() || index >= found->second.size()) return -1;
    const Operation& operation = found->second[index];
    Collective collective;
    std::string kind = name;
    if (name.ends_with("-send") || name.ends_with("-recv")) {
      const bool sends = name.ends_with("-send"), forward = name.starts_with("forward");
      collective.kind = sends ? CollectiveKind::kSend : CollectiveKind::kReceive;
      collective.peer = trace_.rank_of(data_rank_, stage_ + (sends == forward ? 1 : -1));
      kind = forward ? "forward-pp-comm" : "backward-pp-comm";
    }
    push(collective, kind + "@" + members_of(name), index, stream, operation, after);
    return static_cast<int>(iteration_.collectives.size()) - 1;
  }

  /// An empty operation on the stream of compute.
  void join(int after) {
    const Ns end = iteration_.collectives[after].end_ns;
    push({}, fmt::format("join@rank {}", summary_.identity.rank), 0, kCompute, {end, end}, after);
  }

  void push(Collective collective, const std::string& communicator, size_t index, Stream stream,
            const Operation& operation, int after) {
    const auto found = std::ranges::find(summary_.communicators, communicator, &Membership::name);
    collective.communicator = static_cast<uint32_t>(found - summary_.communicators.begin());
    if (found == summary_.communicators.end())
      summary_.communicators.push_back({communicator, -1, summary_.identity.rank});
    collective.sequence = static_cast<uint32_t>(index);
    collective.stream = stream;
    collective.start_ns = operation.start_ns;
    collective.end_ns = operation.end_ns;
    // The time in which nothing ran is the launch's.
    const auto end_of = [&](int position) {
      return position < 0 ? iteration_.start_ns : iteration_.collectives[position].end_ns;
    };
    const auto [last, is_first] = last_on_.try_emplace(stream, -1);
    const Ns ready = std::max(end_of(after), end_of(last->second));
    last->second = static_cast<int>(iteration_.collectives.size());
    Segment segment;
    segment.after = after;
    segment.shares[static_cast<size_t>(analysis::TimeShare::kLaunching)] =
        std::max<Ns>(operation.start_ns - ready, 0);
    iteration_.collectives.push_back(collective);
    iteration_.segments.push_back(segment);
  }

  const PipelineTrace& trace_;
  const int data_rank_, stage_;
  Worker worker_;
  RankSummary summary_;
  RankIteration iteration_;
  std::map<uint32_t, int> last_on_;  // stream
  int last_compute_ = -1;
};

Ns ns_of(double us) { return std::llround(us * 1e3); }

}  // namespace

std::string unpacked(const std::filesystem::path& file) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(file.c_str(), "rb"), gzclose);
  if (in == nullptr) throw std::runtime_error("cannot open " + file.string());
  std::string text, part(1 << 20, '\0');
  for (int count = 0; (count = gzread(in.get(), part.data(), 1 << 20)) > 0;) {
    text.append(part, 0, static_cast<size_t>(count));
  }
  return text;
}

PipelineTrace read_pipeline_trace(const std::filesystem::path& file) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(unpacked(file));
  const simdjson::dom::array events = parser.parse(text).get_array();
  PipelineTrace trace;
  std::map<int64_t, int> stages;  // by lane
  for (const simdjson::dom::element event : events) {
    if (std::string_view(event["name"]) != "thread_name") continue;
    const std::string_view name = event["args"]["name"];  // "PP rank 2, TP rank 0, compute"
    const int stage = std::stoi(std::string(name.substr(std::string_view("PP rank ").size())));
    stages[int64_t(event["tid"])] = stage;
    trace.stages = std::max(trace.stages, stage + 1);
    trace.data = std::max(trace.data, static_cast<int>(int64_t(event["pid"])) + 1);
  }
  std::map<int, std::map<std::pair<int, int>, Worker>> workers;  // by step; data rank, stage
  for (const simdjson::dom::element event : events) {
    if (std::string_view(event["ph"]) != "X") continue;
    const simdjson::dom::element arguments = event["args"];
    const auto step = static_cast<int>(int64_t(arguments["step"]));
    const auto index = static_cast<size_t>(int64_t(arguments["seq_id"]));
    Worker& worker =
        workers[step][{static_cast<int>(int64_t(event["pid"])), stages.at(int64_t(event["tid"]))}];
    std::vector<Operation>& operations = worker[std::string(std::string_view(event["name"]))];
    operations.resize(std::max(operations.size(), index + 1));
    const double start = event["ts"], duration = event["dur"];
    operations[index] = {ns_of(start), ns_of(start + duration)};
  }
  for (auto& [step, by_worker] : workers) {
    Ns start = std::numeric_limits<Ns>::max();
    for (const auto& [key, worker] : by_worker) {
      for (const auto& [name, operations] : worker) {
        for (const Operation& operation : operations) start = std::min(start, operation.start_ns);
      }
    }
    for (auto& [key, worker] : by_worker) {
      trace.steps[step].push_back(
          WorkerWriter(trace, key.first, key.second, std::move(worker)).write(start));
    }
  }
  return trace;
}

}  // namespace streamscope::job
