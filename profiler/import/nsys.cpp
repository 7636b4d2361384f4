// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// SQLite exports of Nsight Systems, 2021 to 2026 (schema beta to 3.28).
//
// Tables and columns are taken by name, as they come and go with releases and with what was traced.
// What a synchronization is, is decided by the name of its call: the numbers in syncType mean
// something else in every other release. Of the target's environment, which an export holds whole,
// nothing is read.

#include <algorithm>
#include <set>
#include <string>

#include "assembly.h"
#include "importer.h"
#include "trace/error.h"
#include "trace/foreign_tables.h"

namespace streamscope::import {
namespace {

using trace::ForeignRows;
using trace::ForeignTables;

constexpr Int kNone32 = 0xffffffff;      // "not applicable" in columns of 32 bits
constexpr Int kLatestNs = Int{1} << 60;  // 36 years; beyond it a number is no time
constexpr Int kStreamNull = 3, kStreamNonBlocking = 2, kStreamDefault = 1;
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

// Tables that hold no activity, or that other tables refer to.
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
  return std::find(std::begin(kNames), std::end(kNames), table) != std::end(kNames);
}

Int or_none(Int number) { return number == kNone32 ? kNoInt : number; }

class NsysReader {
 public:
  NsysReader(const std::filesystem::path& file, Assembly& assembly)
      : tables_(file), assembly_(assembly) {
    if (!is_export()) {
      throw Error(file, "is a SQLite file, but no export of Nsight Systems",
                  "streamscope import reads what `nsys export --type sqlite` writes");
    }
  }

  void read() {
    read_strings();
    read_version();
    read_calls();
    read_devices();
    read_contexts();
    read_streams();
    read_syncs();
    read_records();
    read_kernels();
    read_copies();
    read_memsets();
    read_graph_launches();
    place_idle_contexts();
    read_overhead();
    read_nvtx();
    read_names();
    tell_what_is_left_out();
  }

 private:
  bool is_export() const {
    for (const std::string& table : tables_.tables()) {
      if (table == "StringIds" || table.starts_with("CUPTI_ACTIVITY_KIND_") ||
          table == "META_DATA_EXPORT" || table == "EXPORT_META_DATA" || table == "NVTX_EVENTS") {
        return true;
      }
    }
    return false;
  }

  ForeignRows rows(std::string_view table, const std::vector<std::string_view>& columns) {
    taken_.insert(std::string(table));
    return tables_.rows(table, columns);
  }

  // Texts are interned when somebody needs them: an export holds the whole environment among them.
  void read_strings() {
    ForeignRows texts = rows("StringIds", {"id", "value"});
    while (texts.next()) strings_.emplace(texts.integer(0), std::string(texts.text(1)));
  }
  std::string_view text(Int id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? std::string_view() : std::string_view(found->second);
  }
  Id string_id(Int id) {
    const auto [known, is_new] = string_ids_.try_emplace(id, kNoId);
    if (is_new && strings_.contains(id)) known->second = assembly_.intern(text(id));
    return known->second;
  }

  void read_version() {
    std::string product = "nsys";
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
      ForeignRows facts = rows(table, {"name", "value"});
      std::string version, schema;
      while (facts.next()) {
        if (facts.text(0) == "EXPORT_PRODUCT_VERSION") version = facts.text(1);
        if (facts.text(0) == "EXPORT_SCHEMA_VERSION") schema = facts.text(1);
      }
      if (!version.empty()) product += " " + version;
      if (!schema.empty()) product += " (schema " + schema + ")";
    }
    origin_ = product;
    assembly_.set_origin(product);
    ForeignRows start = rows("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
    if (start.next() && !start.is_null(0))
      assembly_.writer().set_meta("trace_start_realtime_ns", start.integer(0));
  }

  // Of globalPid, or of globalTid without the thread: hardware, virtual machine and process id.
  Id process(Int global) {
    const Int key = global >> 24;
    const auto known = processes_.find(key);
    if (known != processes_.end()) return known->second;
    // Two machines of one session may use one process id.
    Int pid = key & 0xffffff;
    const bool taken = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
      return (other.first & 0xffffff) == pid;
    });
    const Id id = assembly_.process(taken ? key : pid);
    trace::Process& row = assembly_.process_row(id);
    row.os_pid = static_cast<Small>(pid);
    row.collector_id = assembly_.intern(origin_);
    processes_.emplace(key, id);
    return id;
  }
  Id process_of_row(const ForeignRows& row, int global_pid) {
    if (!row.is_null(global_pid)) return process(row.integer(global_pid));
    // Reduced exports lack the column; mostly there is one process.
    if (assembly_.only_process() != kNoId) return assembly_.only_process();
    return process(0);
  }
  Id process_by_pid(Int pid) {
    for (const auto& [key, id] : processes_) {
      if ((key & 0xffffff) == (pid & 0xffffff)) return id;
    }
    return process(pid << 24);
  }
  Id thread(Int global) {
    const auto [known, is_new] = threads_.try_emplace(global, kNoId);
    if (is_new) known->second = assembly_.thread(process(global), global & 0xffffff);
    return known->second;
  }

  // [start, end) of a row, false if it makes none.
  bool interval(const ForeignRows& row, Ns& start, Ns& end) {
    start = row.integer(0, kUnknownNs);
    end = row.integer(1, kUnknownNs);
    const bool good = start > -kLatestNs && end < kLatestNs && start <= end;
    if (!good) assembly_.losses().add("record-invalid");
    return good;
  }

  void read_calls() {
    ForeignRows calls =
        rows("CUPTI_ACTIVITY_KIND_RUNTIME",
             {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"});
    std::unordered_map<Int, Id> names;
    while (calls.next()) {
      Call call;
      if (!interval(calls, call.start_ns, call.end_ns)) continue;
      call.thread = thread(calls.integer(2));
      call.correlation = calls.integer(3, kNoInt);
      const auto [name, is_new] = names.try_emplace(calls.integer(4, -1), kNoId);
      if (is_new) name->second = assembly_.name_call(text(name->first));
      call.name = name->second;
      if (!calls.is_null(5)) call.result = static_cast<Small>(calls.integer(5));
      assembly_.add(call);
    }
  }

  // Devices have a number per process (deviceId) and one of the machine.
  void read_devices() {
    ForeignRows used = rows("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"});
    while (used.next()) gpu_of_[{used.integer(2), used.integer(1)}] = used.integer(0);
    ForeignRows gpus =
        rows("TARGET_INFO_GPU", {"id", "name", "uuid", "smCount", "totalMemory", "asyncEngines",
                                 "computeMajor", "computeMinor", "cuDevice"});
    while (gpus.next()) {
      Gpu gpu;
      gpu.name = assembly_.intern(gpus.text(1));
      if (!gpus.text(2).empty()) gpu.uuid = assembly_.intern(gpus.text(2));
      if (!gpus.is_null(3)) gpu.sm_count = static_cast<Small>(gpus.integer(3));
      gpu.memory_bytes = gpus.integer(4, kNoInt);
      if (!gpus.is_null(5)) gpu.copy_engines = static_cast<Small>(gpus.integer(5));
      if (!gpus.is_null(6))
        gpu.capability =
            static_cast<Small>((gpus.integer(6) & 0xff) * 10 + (gpus.integer(7) & 0xff));
      gpus_.emplace(gpus.integer(0), gpu);
      if (!gpus.is_null(8)) gpu_by_ordinal_.emplace(gpus.integer(8), gpus.integer(0));
    }
  }
  Id device(Id process, Int ordinal) {
    const Int pid = assembly_.process_row(process).os_pid;
    Int gpu = ordinal;
    if (const auto mapped = gpu_of_.find({pid, ordinal}); mapped != gpu_of_.end()) {
      gpu = mapped->second;
    } else if (const auto same = gpu_by_ordinal_.find(ordinal); same != gpu_by_ordinal_.end()) {
      gpu = same->second;
    }
    const Id id = assembly_.device(
        static_cast<Int>(static_cast<uint64_t>(gpu) << 16 ^ static_cast<uint64_t>(ordinal)));
    trace::Device& row = assembly_.device_row(id);
    if (row.ordinal != kNoSmall) return id;
    row.ordinal = static_cast<Small>(ordinal);
    if (const auto known = gpus_.find(gpu); known != gpus_.end()) {
      row.name_id = known->second.name;
      row.uuid_id = known->second.uuid;
      row.sm_count = known->second.sm_count;
      row.memory_bytes = known->second.memory_bytes;
      row.copy_engines = known->second.copy_engines;
      row.compute_capability = known->second.capability;
    }
    return id;
  }

  // A context number is unique in its process; rows of page migrations have none.
  Id context(Id process, Int native, Int ordinal) {
    const auto [known, is_new] = contexts_.try_emplace(
        {process, native, native == 0 || native == kNoInt ? ordinal : 0}, kNoId);
    if (is_new) {
      known->second =
          assembly_.context(process, native, ordinal == kNoInt ? kNoId : device(process, ordinal));
    } else if (ordinal != kNoInt && assembly_.context_row(known->second).device_id == kNoId) {
      assembly_.context_row(known->second).device_id = device(process, ordinal);
    }
    return known->second;
  }
  Id stream(Id process, Int native_context, Int ordinal, Int native) {
    const Id in = context(process, native_context, ordinal);
    const Id id = assembly_.stream(in, native);
    if (const auto null = null_streams_.find({in, native}); null != null_streams_.end()) {
      trace::Stream& row = assembly_.stream_row(id);
      row.kind = trace::kLegacyStream;
      row.handle = 0;
    }
    return id;
  }
  void add_null_stream(Id in, Int native) {
    null_streams_.insert({in, native});
    trace::Stream& row = assembly_.stream_row(assembly_.stream(in, native));
    row.kind = trace::kLegacyStream;
    row.handle = 0;
  }

  void read_contexts() {
    ForeignRows contexts = rows("TARGET_INFO_CUDA_CONTEXT_INFO",
                                {"processId", "contextId", "deviceId", "nullStreamId"});
    while (contexts.next()) {
      const Id in =
          context(process_by_pid(contexts.integer(0)), contexts.integer(1), contexts.integer(2));
      if (!contexts.is_null(3)) add_null_stream(in, contexts.integer(3));
    }
    ForeignRows null_streams =
        rows("TARGET_INFO_CUDA_NULL_STREAM", {"processId", "contextId", "deviceId", "streamId"});
    while (null_streams.next()) {
      add_null_stream(context(process_by_pid(null_streams.integer(0)), null_streams.integer(1),
                              null_streams.integer(2)),
                      null_streams.integer(3));
    }
  }

  void read_streams() {
    ForeignRows streams =
        rows("TARGET_INFO_CUDA_STREAM", {"processId", "contextId", "streamId", "priority", "flag"});
    while (streams.next()) {
      const Id in = context(process_by_pid(streams.integer(0)), streams.integer(1), kNoInt);
      const Id id = assembly_.stream(in, streams.integer(2));
      trace::Stream& row = assembly_.stream_row(id);
      // Stored unsigned: 4294967295 is -1.
      row.priority = static_cast<Small>(static_cast<uint32_t>(streams.integer(3)));
      const Int flag = streams.integer(4);
      if (flag == kStreamNull) {
        add_null_stream(in, streams.integer(2));
      } else if (row.kind == trace::kUnknownStream) {
        if (flag == kStreamDefault) row.kind = trace::kBlockingStream;
        if (flag == kStreamNonBlocking) row.kind = trace::kNonBlockingStream;
      }
    }
    ForeignRows names =
        rows("TARGET_INFO_NVTX_CUDA_STREAM", {"processId", "contextId", "streamId", "name"});
    while (names.next()) {
      const Id in = context(process_by_pid(names.integer(0)), names.integer(1), kNoInt);
      assembly_.stream_row(assembly_.stream(in, names.integer(2))).name_id =
          assembly_.intern(names.text(3));
    }
  }

  Act act_of(const ForeignRows& row, int global_pid, int correlation, int device,
             int context_column, int stream_column, int event, int instance) {
    Act act;
    act.process = process_of_row(row, global_pid);
    act.correlation = row.integer(correlation, kNoInt);
    const Int native_context = row.integer(context_column, kNoInt);
    // Synchronizations name device 0 whatever their context is on: only work says where it runs.
    const Int named_device = row.integer(device, kNoInt);
    const Int ordinal = native_context == kNoInt ? named_device : kNoInt;
    act.context = context(act.process, native_context, ordinal);
    if (named_device != kNoInt) device_of_idle_.emplace(act.context, named_device);
    const Int native = or_none(row.integer(stream_column, kNoInt));
    if (native != kNoInt) act.stream = stream(act.process, native_context, ordinal, native);
    act.event = or_none(row.integer(event, kNoInt));
    // Neither 0 (3.25) nor 4294967295 (3.24) names a record.
    act.instance = or_none(row.integer(instance, kNoInt));
    if (act.instance == 0) act.instance = kNoInt;
    return act;
  }

  void read_syncs() {
    ForeignRows syncs = rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                             {"globalPid", "correlationId", "deviceId", "contextId", "streamId",
                              "eventId", "eventSyncId"});
    while (syncs.next()) assembly_.add_look(act_of(syncs, 0, 1, 2, 3, 4, 5, 6));
  }
  void read_records() {
    ForeignRows records =
        rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"globalPid", "correlationId", "deviceId",
                                                "contextId", "streamId", "eventId", "eventSyncId"});
    while (records.next()) assembly_.add_record(act_of(records, 0, 1, 2, 3, 4, 5, 6));
  }

  // What all tables of device work share, in this order.
  ForeignRows work_rows(std::string_view table, std::initializer_list<std::string_view> more) {
    std::vector<std::string_view> columns = {"start",     "end",        "deviceId",
                                             "contextId", "streamId",   "correlationId",
                                             "globalPid", "graphNodeId"};
    columns.insert(columns.end(), more);
    return rows(table, columns);
  }
  static constexpr int kWorkColumns = 8;
  bool work(const ForeignRows& row, trace::OpKind kind, trace::Op& op) {
    op = {.kind = kind};
    if (!interval(row, op.start_ns, op.end_ns)) return false;
    const Key key{row.integer(6, kNoInt), row.integer(3, kNoInt), row.integer(2, kNoInt),
                  row.integer(4, 0)};
    // Neighbours mostly run on the same stream.
    if (key != last_key_ || last_stream_ == kNoId) {
      last_key_ = key;
      last_stream_ = stream(process_of_row(row, 6), key.context, key.device, key.stream);
    }
    op.stream_id = last_stream_;
    op.correlation_id = row.integer(5, kNoInt);
    if (const Int node = row.integer(7); node != 0) op.graph_node = node;
    return true;
  }

  void read_kernels() {
    const std::string_view table = "CUPTI_ACTIVITY_KIND_KERNEL";
    ForeignRows kernels = work_rows(
        table, {"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
                "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"});
    const auto small = [&](int column) {
      const Int number = kernels.integer(column, kNoInt);
      return number == kNoInt ? kNoSmall : static_cast<Small>(number);
    };
    trace::Op op;
    while (kernels.next()) {
      if (!work(kernels, trace::kKernel, op)) continue;
      const int at = kWorkColumns;
      op.name_id =
          string_id(kernels.is_null(at) ? kernels.integer(at + 1, -1) : kernels.integer(at, -1));
      const trace::LaunchShape shape{.grid_x = small(at + 2),
                                     .grid_y = small(at + 3),
                                     .grid_z = small(at + 4),
                                     .block_x = small(at + 5),
                                     .block_y = small(at + 6),
                                     .block_z = small(at + 7),
                                     .registers = small(at + 8),
                                     .static_shared_bytes = kernels.integer(at + 9, kNoInt),
                                     .dynamic_shared_bytes = kernels.integer(at + 10, kNoInt)};
      op.launch_shape_id = assembly_.launch_shape(shape);
      assembly_.add(op);
    }
  }

  void read_copies() {
    ForeignRows copies =
        work_rows("CUPTI_ACTIVITY_KIND_MEMCPY", {"bytes", "copyKind", "srcKind", "dstKind"});
    const auto memory =
        [&](int column) -> Int {  // ENUM_CUDA_MEM_KIND in the numbers of op.memory_kinds
      const Int kind = copies.integer(column, kUnknownMemory);
      return kind < kPageable || kind >= kUnknownMemory ? 0 : kind + 1;
    };
    trace::Op op;
    while (copies.next()) {
      if (!work(copies, trace::kMemcpy, op)) continue;
      op.bytes = copies.integer(8, kNoInt);
      op.detail = static_cast<Small>(copies.integer(9, 0));
      if (!copies.lacks(10)) op.memory_kinds = static_cast<Small>(memory(10) << 4 | memory(11));
      if (op.detail >= trace::kFirstMigration) {
        // The driver moves pages by itself, in no order with any stream.
        trace::Stream& row = assembly_.stream_row(op.stream_id);
        if (row.name_id == kNoId && row.kind == trace::kUnknownStream) {
          row.name_id = assembly_.intern("page migrations");
          row.kind = trace::kNonBlockingStream;
        }
      }
      assembly_.add(op);
    }
  }

  void read_memsets() {
    ForeignRows memsets = work_rows("CUPTI_ACTIVITY_KIND_MEMSET", {"bytes", "memKind"});
    trace::Op op;
    while (memsets.next()) {
      if (!work(memsets, trace::kMemset, op)) continue;
      op.bytes = memsets.integer(8, kNoInt);
      const Int kind = memsets.integer(9, kUnknownMemory);
      op.detail = static_cast<Small>(kind < kPageable || kind >= kUnknownMemory ? 0 : kind + 1);
      assembly_.add(op);
    }
  }

  void read_graph_launches() {
    ForeignRows launches = work_rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {"graphId", "graphExecId"});
    trace::Op op;
    while (launches.next()) {
      if (!work(launches, trace::kGraphLaunch, op)) continue;
      if (!launches.is_null(9))
        assembly_.add_graph_launch(process_of_row(launches, 6), op.correlation_id,
                                   launches.integer(8, kNoInt), launches.integer(9));
      assembly_.add(op);
    }
  }

  void read_overhead() {
    for (const char* table : {"CUPTI_ACTIVITY_KIND_OVERHEAD", "PROFILER_OVERHEAD"}) {
      ForeignRows overhead = rows(table, {"start", "end", "globalTid", "nameId"});
      while (overhead.next()) {
        trace::Overhead row;
        if (!interval(overhead, row.start_ns, row.end_ns)) continue;
        const Int global = overhead.integer(2);
        row.process_id = process(global);
        if ((global & 0xffffff) != 0) row.thread_id = thread(global);
        row.name_id = string_id(overhead.integer(3, -1));
        assembly_.add(row);
      }
    }
  }

  void read_nvtx() {
    std::map<Int, Id> domains;
    {
      ForeignRows events = rows("NVTX_EVENTS", {"eventType", "domainId", "text", "textId"});
      while (events.next()) {
        if (events.integer(0) == kNvtxDomain && events.integer(1) != 0)
          domains[events.integer(1)] = nvtx_text(events, 2);
      }
    }
    ForeignRows events =
        rows("NVTX_EVENTS", {"start", "end", "text", "textId", "eventType", "domainId", "globalTid",
                             "category", "color", "uint64Value", "int64Value"});
    while (events.next()) {
      const Int type = events.integer(4);
      if (type == kNvtxDomain || type == kNvtxDomainEnd || type == kNvtxCategory ||
          type == kNvtxThread)
        continue;
      if (type != kNvtxMark && type != kNvtxPushPop && type != kNvtxStartEnd) {
        assembly_.losses().add("import-not-understood", 1, kNoId,
                               "NVTX events of type " + std::to_string(type));
        continue;
      }
      const Ns start = events.integer(0, kUnknownNs), end = events.integer(1, kUnknownNs);
      if (start <= -kLatestNs || start >= kLatestNs || end >= kLatestNs ||
          (end != kUnknownNs && end < start)) {
        assembly_.losses().add("record-invalid");
        continue;
      }
      const auto domain = domains.find(events.integer(5));
      const Id domain_id = domain == domains.end() ? kNoId : domain->second;
      const Small category =
          events.integer(7) == 0 ? kNoSmall : static_cast<Small>(events.integer(7));
      const Small color = events.is_null(8)
                              ? kNoSmall
                              : static_cast<Small>(static_cast<uint32_t>(events.integer(8)));
      const Id thread_id = thread(events.integer(6));
      if (type == kNvtxMark) {
        assembly_.add(trace::Mark{.thread_id = thread_id,
                                  .domain_id = domain_id,
                                  .name_id = nvtx_text(events, 2),
                                  .category = category,
                                  .color = color,
                                  .start_ns = start});
        continue;
      }
      assembly_.add(trace::Range{.thread_id = thread_id,
                                 .kind = type == kNvtxPushPop ? trace::kPushPop : trace::kStartEnd,
                                 .domain_id = domain_id,
                                 .name_id = nvtx_text(events, 2),
                                 .category = category,
                                 .color = color,
                                 .payload = events.integer(events.is_null(9) ? 10 : 9, kNoInt),
                                 .start_ns = start,
                                 .end_ns = end});
    }
  }
  Id nvtx_text(const ForeignRows& row, int column) {
    if (!row.is_null(column)) return assembly_.intern(row.text(column));
    return row.is_null(column + 1) ? kNoId : string_id(row.integer(column + 1));
  }

  // Contexts in which no work ran.
  void place_idle_contexts() {
    for (const auto& [id, ordinal] : device_of_idle_) {
      trace::Context& row = assembly_.context_row(id);
      if (row.device_id == kNoId) row.device_id = device(row.process_id, ordinal);
    }
  }

  // Processes and threads that did nothing traced are left out: a session lists all of the machine.
  void read_names() {
    ForeignRows processes = rows("PROCESSES", {"globalPid", "name"});
    while (processes.next()) {
      const auto known = processes_.find(processes.integer(0) >> 24);
      if (known != processes_.end() && !processes.text(1).empty())
        assembly_.process_row(known->second).name_id = assembly_.intern(processes.text(1));
    }
    ForeignRows names = rows("ThreadNames", {"globalTid", "nameId"});
    while (names.next()) {
      const auto known = threads_.find(names.integer(0));
      if (known != threads_.end())
        assembly_.thread_row(known->second).name_id = string_id(names.integer(1, -1));
    }
  }

  void tell_what_is_left_out() {
    for (const std::string& table : tables_.tables()) {
      if (taken_.contains(table) || is_reference(table)) continue;
      assembly_.losses().add("import-not-understood",
                             static_cast<uint64_t>(tables_.row_count(table)), kNoId,
                             "rows of " + table);
    }
  }

  struct Gpu {
    Id name = kNoId, uuid = kNoId;
    Small sm_count = kNoSmall, copy_engines = kNoSmall, capability = kNoSmall;
    Int memory_bytes = kNoInt;
  };
  struct Key {
    Int process, context, device, stream;
    bool operator==(const Key&) const = default;
  };

  ForeignTables tables_;
  Assembly& assembly_;
  std::string origin_;
  std::set<std::string> taken_;
  std::unordered_map<Int, std::string> strings_;
  std::unordered_map<Int, Id> string_ids_;
  std::unordered_map<Int, Id> processes_;  // by globalPid >> 24
  std::unordered_map<Int, Id> threads_;    // by globalTid
  std::map<std::tuple<Id, Int, Int>, Id> contexts_;
  std::map<Id, Int> device_of_idle_;
  std::set<std::pair<Id, Int>> null_streams_;
  std::map<std::pair<Int, Int>, Int> gpu_of_;  // (pid, device number there) -> gpu
  std::map<Int, Int> gpu_by_ordinal_;
  std::map<Int, Gpu> gpus_;
  Key last_key_{};
  Id last_stream_ = kNoId;
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
