// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// SQLite exports of Nsight Systems, 2021 to 2026 (schema beta to 3.28).
//
// Tables and columns are found by name, as they vary with the release and with what was traced. The
// kind of a synchronization is determined by the name of its call: the numbers in syncType mean
// something else in every other release. The target's environment, which an export contains
// completely, is not read.

#include <algorithm>
#include <string>

#include "assembly.h"
#include "importer.h"
#include "nsys_objects.h"
#include "nsys_samples.h"
#include "trace/error.h"
#include "vocabulary/collective_kind.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::import {
namespace {

using trace::ForeignRow;
using trace::ForeignTables;

// Maximum number of rows of a table for which space is reserved before they are read.
constexpr int64_t kMostExpectedRows = 4 << 20;
constexpr Int kPageable = 0, kUnknownMemory = 7;

// eventType of NVTX_EVENTS.
enum NvtxType : Int {
  kNvtxCategory = 33,
  kNvtxMark = 34,
  kNvtxThread = 39,
  kNvtxPushPop = 59,
  kNvtxStartEnd = 60,
  kNvtxDomain = 75,
  kNvtxDomainEnd = 76
};

// Tables that contain no activity, or that other tables refer to.
bool is_reference(std::string_view table) {
  for (std::string_view prefix : {"ENUM_", "TARGET_INFO_", "META_DATA_", "ANALYSIS_", "EXPORT_"}) {
    if (table.starts_with(prefix)) return true;
  }
  constexpr std::string_view kNames[] = {"StringIds",
                                         "PROCESSES",
                                         "ThreadNames",
                                         "ProcessStreams",
                                         "DIAGNOSTIC_EVENT",
                                         "NVTX_PAYLOAD_SCHEMAS",
                                         "NVTX_PAYLOAD_SCHEMA_ENTRIES"};
  return std::ranges::find(kNames, table) != std::end(kNames);
}

class NsysReader {
 public:
  NsysReader(const std::filesystem::path& file, Assembly& assembly)
      : tables_(file),
        assembly_(assembly),
        origin_(origin_of(file)),
        objects_(tables_, assembly, origin_),
        samples_(tables_, assembly, objects_, strings_, [this](Int id) { return string_id(id); }) {
    assembly_.set_origin(origin_);
  }

  void read() {
    const auto rows = [this](const char* table) {
      return static_cast<size_t>(std::min(tables_.highest_row(table), kMostExpectedRows));
    };
    assembly_.reserve(rows("CUPTI_ACTIVITY_KIND_RUNTIME"),
                      rows("CUPTI_ACTIVITY_KIND_KERNEL") + rows("CUPTI_ACTIVITY_KIND_MEMCPY") +
                          rows("CUPTI_ACTIVITY_KIND_MEMSET"),
                      rows("NVTX_EVENTS"));
    read_strings();
    read_calls();
    samples_.read();
    objects_.read();
    read_acts("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
              [this](const Act& act) { assembly_.add_look(act); });
    read_acts("CUPTI_ACTIVITY_KIND_CUDA_EVENT",
              [this](const Act& act) { assembly_.add_record(act); });
    read_kernels();
    read_copies();
    read_memsets();
    read_graph_launches();
    read_overhead();
    read_nvtx();
    objects_.finish(strings_);
    report_what_is_left_out();
  }

 private:
  bool is_export() const {
    return std::ranges::any_of(tables_.tables(), [](const std::string& table) {
      return table == "StringIds" || table.starts_with("CUPTI_ACTIVITY_KIND_") ||
             table == "META_DATA_EXPORT" || table == "EXPORT_META_DATA" || table == "NVTX_EVENTS";
    });
  }

  // Reads the program and version that wrote it, and the start of the session.
  std::string origin_of(const std::filesystem::path& file) {
    if (!is_export()) {
      throw Error(file, "is a SQLite file but not an export of Nsight Systems",
                  "streamscope import reads what `nsys export --type sqlite` writes");
    }
    std::string version, schema;
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
      tables_.each(table, {"name", "value"}, [&](const ForeignRow& fact) {
        if (fact.text(0) == "EXPORT_PRODUCT_VERSION") version = fact.text(1);
        if (fact.text(0) == "EXPORT_SCHEMA_VERSION") schema = fact.text(1);
      });
    }
    tables_.each("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [&](const ForeignRow& start) {
      if (!start.is_null(0))
        assembly_.writer().set_meta("trace_start_realtime_ns", start.integer(0));
    });
    std::string product = "nsys";
    if (!version.empty()) product += " " + version;
    if (!schema.empty()) product += " (schema " + schema + ")";
    return product;
  }

  // Texts are interned when first used: an export contains the whole environment among them.
  void read_strings() {
    tables_.each("StringIds", {"id", "value"}, [&](const ForeignRow& row) {
      strings_.emplace(row.integer(0), std::string(row.text(1)));
    });
  }
  Id string_id(Int id) {
    // Neighbors usually have the same name.
    if (id == last_string_key_) return last_string_;
    const auto [known, is_new] = string_ids_.try_emplace(id, kNoId);
    if (is_new) {
      if (const auto text = strings_.find(id); text != strings_.end())
        known->second = assembly_.intern(text->second);
    }
    last_string_key_ = id;
    last_string_ = known->second;
    return last_string_;
  }

  // [start, end) of a row, false if they are invalid.
  bool interval(const ForeignRow& row, Ns& start, Ns& end) {
    start = row.integer(0, kUnknownNs);
    end = row.integer(1, kUnknownNs);
    const bool good = start > -kLatestTimeNs && end < kLatestTimeNs && start <= end;
    if (!good) assembly_.losses().add("record-invalid");
    return good;
  }

  void read_calls() {
    std::unordered_map<Int, Id> names;
    const NsysSamples::Chains stacks = samples_.chains("CUDA_CALLCHAINS");
    tables_.each(
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        {"start", "end", "globalTid", "correlationId", "nameId", "returnValue", "callchainId"},
        [&](const ForeignRow& row) {
          Call call;
          if (!interval(row, call.start_ns, call.end_ns)) return;
          call.thread = objects_.thread(row.integer(2));
          call.correlation = row.integer(3, kNoInt);
          const auto [name, is_new] = names.try_emplace(row.integer(4, -1), kNoId);
          if (is_new) {
            const auto text = strings_.find(name->first);
            name->second = assembly_.name_call(text == strings_.end() ? "" : text->second);
          }
          call.name = name->second;
          call.result = small(row, 5);
          if (const auto stack = stacks.find(row.integer(6, kNoInt)); stack != stacks.end())
            call.stack = stack->second;
          assembly_.add(call);
        });
  }

  template <class Add>
  void read_acts(std::string_view table, Add add) {
    tables_.each(table,
                 {"globalPid", "correlationId", "deviceId", "contextId", "streamId", "eventId",
                  "eventSyncId"},
                 [&](const ForeignRow& row) { add(act_of(row)); });
  }
  Act act_of(const ForeignRow& row) {
    Act act;
    act.process = objects_.process_of_row(row, 0);
    act.correlation = row.integer(1, kNoInt);
    const Int native_context = row.integer(3, kNoInt);
    // Synchronizations name device 0 regardless of their context: only work shows the real device.
    const Int named_device = row.integer(2, kNoInt);
    const Int ordinal = native_context == kNoInt ? named_device : kNoInt;
    act.context = objects_.context(act.process, native_context, ordinal);
    if (named_device != kNoInt) objects_.suggest_device(act.context, named_device);
    const Int native = or_none(row.integer(4, kNoInt));
    if (native != kNoInt)
      act.stream = objects_.stream(act.process, native_context, ordinal, native);
    act.event = or_none(row.integer(5, kNoInt));
    // 0 (3.25) and 4294967295 (3.24) mean no record.
    act.instance = or_none(row.integer(6, kNoInt));
    if (act.instance == 0) act.instance = kNoInt;
    return act;
  }

  // The common columns of all tables of device work, in this order.
  static constexpr int kWorkColumns = 8;
  template <class Take>
  void each_work(std::string_view table, trace::OpKind kind,
                 std::initializer_list<std::string_view> more, Take take) {
    std::vector<std::string_view> columns = {"start",     "end",        "deviceId",
                                             "contextId", "streamId",   "correlationId",
                                             "globalPid", "graphNodeId"};
    columns.insert(columns.end(), more);
    tables_.each(table, columns, [&](const ForeignRow& row) {
      trace::Op op{.kind = kind};
      if (!interval(row, op.start_ns, op.end_ns)) return;
      const Key key{row.integer(6, kNoInt), row.integer(3, kNoInt), row.integer(2, kNoInt),
                    row.integer(4, 0)};
      // Neighbors usually run on one of a few streams.
      Recent& recent = recent_[static_cast<size_t>(key.stream) % std::size(recent_)];
      if (key != recent.key || recent.stream == kNoId) {
        recent = {key, objects_.stream(objects_.process_of_row(row, 6), key.context, key.device,
                                       key.stream)};
      }
      op.stream_id = recent.stream;
      op.correlation_id = row.integer(5, kNoInt);
      if (const Int node = row.integer(7); node != 0) op.graph_node = node;
      take(row, op);
      assembly_.add(op);
    });
  }

  void read_kernels() {
    each_work("CUPTI_ACTIVITY_KIND_KERNEL", trace::kKernel,
              {"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
               "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"},
              [&](const ForeignRow& row, trace::Op& op) {
                const int at = kWorkColumns;
                op.name_id = string_id(row.integer(at, row.integer(at + 1, -1)));
                op.launch_shape_id =
                    assembly_.launch_shape({.grid_x = small(row, at + 2),
                                            .grid_y = small(row, at + 3),
                                            .grid_z = small(row, at + 4),
                                            .block_x = small(row, at + 5),
                                            .block_y = small(row, at + 6),
                                            .block_z = small(row, at + 7),
                                            .registers = small(row, at + 8),
                                            .static_shared_bytes = row.integer(at + 9, kNoInt),
                                            .dynamic_shared_bytes = row.integer(at + 10, kNoInt)});
              });
  }

  // Converts ENUM_CUDA_MEM_KIND to the numbers of op.memory_kinds.
  static Small memory_kind(const ForeignRow& row, int column) {
    const Int kind = row.integer(column, kUnknownMemory);
    return kind < kPageable || kind >= kUnknownMemory ? 0 : static_cast<Small>(kind + 1);
  }

  void read_copies() {
    each_work("CUPTI_ACTIVITY_KIND_MEMCPY", trace::kMemcpy,
              {"bytes", "copyKind", "srcKind", "dstKind"},
              [&](const ForeignRow& row, trace::Op& op) {
                const int at = kWorkColumns;
                op.bytes = row.integer(at, kNoInt);
                op.detail = static_cast<Small>(row.integer(at + 1, 0));
                if (!row.lacks(at + 2)) {
                  op.memory_kinds =
                      static_cast<Small>(memory_kind(row, at + 2) << 4 | memory_kind(row, at + 3));
                }
                if (!is_migration(op.detail)) return;
                // The driver moves pages on its own, not ordered with any stream.
                trace::Stream& stream = assembly_.stream_row(op.stream_id);
                if (stream.name_id == kNoId && stream.kind == trace::kUnknownStream) {
                  stream.name_id = assembly_.intern("page migrations");
                  stream.kind = trace::kNonBlockingStream;
                }
              });
  }

  void read_memsets() {
    each_work("CUPTI_ACTIVITY_KIND_MEMSET", trace::kMemset, {"bytes", "memKind"},
              [&](const ForeignRow& row, trace::Op& op) {
                op.bytes = row.integer(kWorkColumns, kNoInt);
                op.detail = memory_kind(row, kWorkColumns + 1);
              });
  }

  void read_graph_launches() {
    each_work("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", trace::kGraphLaunch, {"graphId", "graphExecId"},
              [&](const ForeignRow& row, trace::Op& op) {
                const int at = kWorkColumns;
                if (row.is_null(at + 1)) return;
                assembly_.add_graph_launch(objects_.process_of_row(row, 6), op.correlation_id,
                                           row.integer(at, kNoInt), row.integer(at + 1));
              });
  }

  void read_overhead() {
    for (const char* table : {"CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD"}) {
      tables_.each(table, {"start", "end", "globalTid", "nameId"}, [&](const ForeignRow& overhead) {
        trace::Overhead row;
        if (!interval(overhead, row.start_ns, row.end_ns)) return;
        const Int global = overhead.integer(2);
        row.process_id = objects_.process(global);
        if ((global & 0xffffff) != 0) row.thread_id = objects_.thread(global);
        row.name_id = string_id(overhead.integer(3, -1));
        assembly_.add(row);
      });
    }
  }

  void read_nvtx() {
    std::map<Int, Id> domains;
    tables_.each("NVTX_EVENTS", {"text", "textId", "domainId"},
                 [&](const ForeignRow& event) {
                   if (event.integer(2) != 0) domains[event.integer(2)] = nvtx_text(event);
                 },
                 {{"eventType", kNvtxDomain}});
    tables_.each("NVTX_EVENTS",
                 {"text", "textId", "start", "end", "eventType", "domainId", "globalTid",
                  "category", "color", "uint64Value", "int64Value"},
                 [&](const ForeignRow& event) { take_nvtx(event, domains); });
  }
  void take_nvtx(const ForeignRow& event, const std::map<Int, Id>& domains) {
    const Int type = event.integer(4);
    if (type == kNvtxDomain || type == kNvtxDomainEnd || type == kNvtxCategory ||
        type == kNvtxThread)
      return;
    if (type != kNvtxMark && type != kNvtxPushPop && type != kNvtxStartEnd) {
      assembly_.losses().add("import-not-understood", 1, kNoId,
                             "NVTX events of type " + std::to_string(type));
      return;
    }
    const Ns start = event.integer(2, kUnknownNs), end = event.integer(3, kUnknownNs);
    if (start <= -kLatestTimeNs || start >= kLatestTimeNs || end >= kLatestTimeNs ||
        (end != kUnknownNs && end < start)) {
      assembly_.losses().add("record-invalid");
      return;
    }
    const auto domain = domains.find(event.integer(5));
    const Id domain_id = domain == domains.end() ? kNoId : domain->second;
    const Id thread_id = objects_.thread(event.integer(6));
    const Small category = event.integer(7) == 0 ? kNoSmall : static_cast<Small>(event.integer(7));
    const Small color =
        event.is_null(8) ? kNoSmall : static_cast<Small>(static_cast<uint32_t>(event.integer(8)));
    if (type == kNvtxMark) {
      assembly_.add(trace::Mark{.thread_id = thread_id,
                                .domain_id = domain_id,
                                .name_id = nvtx_text(event),
                                .category = category,
                                .color = color,
                                .start_ns = start});
      return;
    }
    assembly_.add(trace::Range{.thread_id = thread_id,
                               .kind = type == kNvtxPushPop ? trace::kPushPop : trace::kStartEnd,
                               .domain_id = domain_id,
                               .name_id = nvtx_text(event),
                               .category = category,
                               .color = color,
                               .payload = event.integer(9, event.integer(10, kNoInt)),
                               .start_ns = start,
                               .end_ns = end});
    if (is_collective(event, domain_id)) {
      assembly_.add(trace::CollectiveCall{
          .thread_id = thread_id, .name_id = nvtx_text(event), .start_ns = start, .end_ns = end});
    }
  }
  // NCCL's calls, and PyTorch's ranges around them. Exports lack what NCCL says about them.
  bool is_collective(const ForeignRow& event, Id domain) {
    std::string_view text = event.text(0);
    if (event.is_null(0)) {
      const auto known = strings_.find(event.integer(1));
      if (known == strings_.end()) return false;
      text = known->second;
    }
    return text.starts_with("nccl:") || (domain != kNoId && domain == assembly_.intern("NCCL") &&
                                         collective_kind(text) != CollectiveKind::kOther);
  }
  // Of rows whose first columns are text and textId.
  Id nvtx_text(const ForeignRow& event) {
    if (!event.is_null(0)) return assembly_.intern(event.text(0));
    return event.is_null(1) ? kNoId : string_id(event.integer(1));
  }

  void report_what_is_left_out() {
    for (const std::string& table : tables_.tables()) {
      if (tables_.was_read(table) || is_reference(table)) continue;
      assembly_.losses().add("import-not-understood",
                             static_cast<uint64_t>(tables_.row_count(table)), kNoId,
                             "rows of " + table);
    }
  }

  struct Key {
    Int process, context, device, stream;
    bool operator==(const Key&) const = default;
  };
  struct Recent {
    Key key{};
    Id stream = kNoId;
  };

  trace::ForeignTables tables_;
  Assembly& assembly_;
  std::string origin_;
  NsysObjects objects_;
  NsysSamples samples_;
  std::unordered_map<Int, std::string> strings_;
  std::unordered_map<Int, Id> string_ids_;
  Int last_string_key_ = kNoInt;
  Id last_string_ = kNoId;
  std::array<Recent, 16> recent_;
};

}  // namespace

bool sniff_nsys(std::span<const std::byte> head) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return text.starts_with(kMagic);
}

void read_nsys(const std::filesystem::path& file, Assembly& assembly) {
  NsysReader(file, assembly).read();
}

}  // namespace streamscope::import
