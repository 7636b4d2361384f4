// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "model.h"

namespace streamscope::trace {

#define STREAMSCOPE_PUSH(type, name) name.push_back(row.name);
#define STREAMSCOPE_PACK(type, name) name.pack();
#define STREAMSCOPE_DEFINE(sql_name, Row, COLUMNS) \
  Id Row##Columns::append(const Row& row) {        \
    COLUMNS(STREAMSCOPE_PUSH)                      \
    return static_cast<Id>(row_count++);           \
  }                                                \
  void Row##Columns::pack() { COLUMNS(STREAMSCOPE_PACK) }
STREAMSCOPE_TABLES(STREAMSCOPE_DEFINE)
#undef STREAMSCOPE_DEFINE
#undef STREAMSCOPE_PACK
#undef STREAMSCOPE_PUSH
namespace {

template <size_t N>
std::string_view name_at(const std::string_view (&names)[N], Small index) {
  return index >= 0 && static_cast<size_t>(index) < N ? names[index] : std::string_view("unknown");
}

constexpr std::string_view kOpKinds[] = {
    "kernel", "memcpy", "memset", "host_function", "memory_wait", "memory_write", "graph_launch"};
constexpr std::string_view kStreamKinds[] = {"legacy",       "per-thread", "blocking",
                                             "non-blocking", "graph",      "unknown"};
constexpr std::string_view kBindings[] = {"exact", "never_recorded", "captured", "ambiguous",
                                          "unknown_history"};
constexpr std::string_view kHostSyncKinds[] = {"device",       "stream",      "event",
                                               "stream query", "event query", "synchronous copy"};
constexpr std::string_view kEdgeKinds[] = {"fifo",  "event",     "host",  "legacy",
                                           "graph", "operation", "memory"};
constexpr std::string_view kSeverities[] = {"info", "notice", "data_loss", "error"};
constexpr std::string_view kCopyKinds[] = {
    "unknown", "HtoD", "DtoH", "HtoA", "AtoH",       "AtoA",       "AtoD",
    "DtoA",    "DtoD", "HtoH", "PtoP", "pages HtoD", "pages DtoH", "pages DtoD"};

}  // namespace

std::string_view to_string(OpKind kind) { return name_at(kOpKinds, kind); }
std::string_view to_string(StreamKind kind) { return name_at(kStreamKinds, kind); }
std::string_view to_string(Binding binding) { return name_at(kBindings, binding); }
std::string_view to_string(HostSyncKind kind) { return name_at(kHostSyncKinds, kind); }
std::string_view to_string(EdgeKind kind) { return name_at(kEdgeKinds, kind); }
std::string_view to_string(Severity severity) {
  return name_at(kSeverities, static_cast<Small>(severity));
}
std::string_view copy_kind_name(Small detail) { return name_at(kCopyKinds, detail); }

}  // namespace streamscope::trace
