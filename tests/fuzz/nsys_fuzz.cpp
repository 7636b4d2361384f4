// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// An input that begins as a SQLite file is used as one. Otherwise its bytes choose the rows of a
// complete export, as mutations of a file rarely get past SQLite.

#include <fuzzer/FuzzedDataProvider.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "fuzz/import_input.h"
#include "trace/sqlite/sqlite.h"

using namespace streamscope;

namespace {

constexpr std::string_view kMagic = "SQLite format 3";
constexpr int kMostRows = 200;  // more reach nothing new and take longer

struct Table {
  const char* name;
  std::vector<const char*> columns;
};

// What the importer queries.
const std::vector<Table>& tables() {
  static const std::vector<Table> kTables = {
      {"StringIds", {"id", "value"}},
      {"CUPTI_ACTIVITY_KIND_RUNTIME",
       {"start", "end", "globalTid", "correlationId", "nameId", "returnValue", "callchainId"}},
      {"CUPTI_ACTIVITY_KIND_KERNEL",
       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
        "graphNodeId", "demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
        "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"}},
      {"CUPTI_ACTIVITY_KIND_MEMCPY",
       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
        "graphNodeId", "bytes", "copyKind", "srcKind", "dstKind"}},
      {"CUPTI_ACTIVITY_KIND_MEMSET",
       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
        "graphNodeId", "bytes", "memKind"}},
      {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
        "graphNodeId", "graphId", "graphExecId"}},
      {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
       {"globalPid", "correlationId", "deviceId", "contextId", "streamId", "eventId",
        "eventSyncId"}},
      {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
       {"globalPid", "correlationId", "deviceId", "contextId", "streamId", "eventId",
        "eventSyncId"}},
      {"CUPTI_ACTIVITY_KIND_OVERHEAD", {"start", "end", "globalTid", "nameId"}},
      {"NVTX_EVENTS",
       {"text", "textId", "start", "end", "eventType", "domainId", "globalTid", "category", "color",
        "uint64Value", "int64Value"}},
      {"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}},
      {"TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}},
      {"TARGET_INFO_GPU",
       {"id", "name", "uuid", "smCount", "totalMemory", "asyncEngines", "computeMajor",
        "computeMinor", "cuDevice"}},
      {"TARGET_INFO_CUDA_CONTEXT_INFO", {"processId", "contextId", "deviceId", "nullStreamId"}},
      {"TARGET_INFO_CUDA_NULL_STREAM", {"processId", "contextId", "deviceId", "streamId"}},
      {"TARGET_INFO_CUDA_STREAM", {"processId", "contextId", "streamId", "priority", "flag"}},
      {"TARGET_INFO_NVTX_CUDA_STREAM", {"processId", "contextId", "streamId", "name"}},
      {"PROCESSES", {"globalPid", "name"}},
      {"ThreadNames", {"globalTid", "nameId"}},
      {"META_DATA_EXPORT", {"name", "value"}},
      {"COMPOSITE_EVENTS", {"globalTid", "start", "id"}},
      {"SCHED_EVENTS", {"globalTid", "start", "isSchedIn", "threadState"}},
      {"OSRT_API", {"globalTid", "start", "end", "nameId", "callchainId"}},
      {"SAMPLING_CALLCHAINS", {"id", "stackDepth", "symbol", "module", "kernelMode", "unresolved"}},
      {"OSRT_CALLCHAINS", {"id", "stackDepth", "symbol", "module", "kernelMode", "unresolved"}},
      {"CUDA_CALLCHAINS", {"id", "stackDepth", "symbol", "module", "unresolved"}},
      {"OSRT_FILE_ACCESS_EVENTS", {"start"}},
  };
  return kTables;
}

// Meaningful names, under the ids 0, 1, ...
constexpr const char* kNames[] = {"cudaLaunchKernel_v7000",
                                  "cudaEventRecord_v3020",
                                  "cudaStreamWaitEvent_v3020",
                                  "cudaEventQuery_v3020",
                                  "cudaStreamSynchronize_v3020",
                                  "cudaMemcpy_v3020",
                                  "cudaDeviceSynchronize_v3020",
                                  "cudaEventSynchronize_v3020",
                                  "cudaGraphLaunch_v10000",
                                  "cuMemcpyHtoDAsync_v2",
                                  "cudaStreamQuery_v3020",
                                  "cuCtxRecordEvent",
                                  "cuCtxWaitEvent",
                                  "void gemm<float>(float*)",
                                  "[Max depth]",
                                  "poll"};

class Export {
 public:
  Export() : database_(test::scratch("export"), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    database_.run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF");
    for (const Table& table : tables()) {
      std::string names, values;
      for (const char* column : table.columns) {
        names += (names.empty() ? "\"" : ",\"") + std::string(column) + '"';
        values += values.empty() ? "?" : ",?";
      }
      const std::string name = table.name;
      database_.run("DROP TABLE IF EXISTS " + name + "; CREATE TABLE " + name + "(" + names + ")");
      insert_.emplace_back(database_, "INSERT INTO " + name + " VALUES(" + values + ")", true);
      clear_ += "DELETE FROM " + name + ";";
    }
  }

  const std::filesystem::path& fill(FuzzedDataProvider& input) {
    database_.run("BEGIN;" + clear_);
    for (size_t i = 0; i < std::size(kNames); ++i) {
      insert_[0].bind(1, static_cast<int64_t>(i));
      insert_[0].bind(2, std::string_view(kNames[i]));
      insert_[0].run();
    }
    for (int rows = 0; rows < kMostRows && input.remaining_bytes() > 0; ++rows) {
      const size_t table = input.ConsumeIntegralInRange<size_t>(0, tables().size() - 1);
      for (size_t c = 0; c < tables()[table].columns.size(); ++c)
        put(input, insert_[table], static_cast<int>(c) + 1);
      insert_[table].run();
      texts_.clear();
    }
    database_.run("COMMIT");
    return database_.file();
  }

 private:
  // Mostly small numbers, so that rows refer to each other.
  void put(FuzzedDataProvider& input, trace::Statement& row, int column) {
    constexpr int64_t kProcess = int64_t{1} << 48 | 7 << 24;
    constexpr int64_t kEdges[] = {-1, 4294967295, INT64_MAX, INT64_MIN, int64_t{1} << 60, 59, 75};
    const auto choice = input.ConsumeIntegral<uint8_t>();
    if (choice < 160) return row.bind(column, int64_t{choice} % 16);
    if (choice < 200) return row.bind(column, kProcess + choice % 4);
    if (choice < 220) return row.bind_null(column);
    if (choice < 232) return row.bind(column, kEdges[choice % std::size(kEdges)]);
    if (choice < 248) return row.bind(column, input.ConsumeIntegral<int64_t>());
    row.bind(column, texts_.emplace_back(input.ConsumeRandomLengthString(64)));
  }

  trace::Database database_;
  std::deque<std::string> texts_;  // of the row that is bound
  std::vector<trace::Statement> insert_;
  std::string clear_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kMagic.size() && std::memcmp(data, kMagic.data(), kMagic.size()) == 0) {
    test::import_input("nsys", test::write_scratch(data, size));
    return 0;
  }
  static Export made;
  FuzzedDataProvider input(data, size);
  test::import_input("nsys", made.fill(input));
  return 0;
}
