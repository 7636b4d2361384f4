// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "cut.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <vector>

#include "copy_rows.h"
#include "trace/error.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/range_name.h"

namespace streamscope::trace {
namespace {

using enum TableIndex;

// A row of these is in the part if its first time is, or for the work of devices, its call is.
constexpr TableIndex kActivities[] = {
    kApiCall,    kEventRecord,   kEventWait,  kHostSync, kOperation, kBarrier,
    kPoolSample, kTimelinePoint, kAccess,     kRange,    kMark,      kCollectiveCall,
    kOverhead,   kThreadSample,  kHostSample, kProbe,    kHang,
};
// A row of these belongs to the row that its first column names: of what is in the part, or of what
// the part refers to.
constexpr TableIndex kDetailsOfActivities[] = {
    kEventWaitCandidate, kOperationDependency, kOperationOp, kBarrierStream, kHangNode, kHangEdge,
};
constexpr TableIndex kDetailsOfObjects[] = {kGraphNode, kGraphEdge, kStackFrame};

class PartSelection {
 public:
  PartSelection(const Trace& trace, const Part& part)
      : trace_(trace), part_(part), selected_(trace) {
#define STREAMSCOPE_COLUMN(type, column) \
  add_column(table, name, #column, columns.column, std::string_view(#type) == "Ns");
#define STREAMSCOPE_TABLE(sql_name, Row, COLUMNS) \
  {                                               \
    Table& table = table_at(k##Row);              \
    const auto& columns = trace.sql_name;         \
    const char* const name = #sql_name;           \
    COLUMNS(STREAMSCOPE_COLUMN)                   \
  }
    STREAMSCOPE_TABLES(STREAMSCOPE_TABLE)
#undef STREAMSCOPE_TABLE
#undef STREAMSCOPE_COLUMN
  }

  Selection select() {
    add_rows(kProcess, [&](Id process) { return is_wanted(process); });
    for (const TableIndex table : kActivities)
      add_rows(table, [&](Id row) { return is_inside(table, row); });
    add_rows(kOp, [&](Id op) { return is_own(kOp, op) && is_op_inside(op); });
    add_parts_of_calls();
    add_rows(kApiCall, [&](Id call) {
      return is_allocation(trace_.api_call.kind[call]) && is_own(kApiCall, call) &&
             trace_.api_call.start_ns[call] < part_.start_ns;
    });
    add_rows(kAllocation, [&](Id row) {
      return is_own(kAllocation, row) &&
             exists(trace_.allocation.allocated_ns[row], trace_.allocation.freed_ns[row]);
    });
    add_rows(kGraph, [&](Id graph) {
      return is_own(kGraph, graph) &&
             exists(trace_.graph.created_ns[graph], trace_.graph.destroyed_ns[graph]);
    });
    add_rows(kClockAnchor, [&](Id row) { return is_own(kClockAnchor, row); });
    add_rows(kSyncWitness, [&](Id row) { return is_own(kSyncWitness, row); });
    add_rows(kLoss, [&](Id loss) {
      return is_own(kLoss, loss) && exists(trace_.loss.start_ns[loss], trace_.loss.end_ns[loss]);
    });
    // Of what the part only refers to, the details would lead to all that was before it.
    for (const TableIndex table : kDetailsOfActivities) add_details(table);
    add_references();
    for (const TableIndex table : kDetailsOfObjects) add_details(table);
    add_references();
    return std::move(selected_);
  }

 private:
  struct IdColumn {
    const char* target;  // null: as hang_object_table() says
    const Column<Id>* ids;
  };
  struct Table {
    std::vector<IdColumn> ids;
    const Column<Ns>* first_time = nullptr;
  };

  Table& table_at(TableIndex table) { return tables_[static_cast<size_t>(table)]; }

  void add_column(Table& table, const char* name, std::string_view column, const Column<Id>& ids,
                  bool) {
    const char* target = referenced_table(name, column);
    if (target == nullptr || target != std::string_view("string"))
      table.ids.push_back({target, &ids});
  }
  void add_column(Table& table, const char*, std::string_view, const Column<Int>& values,
                  bool is_instant) {
    if (is_instant && table.first_time == nullptr) table.first_time = &values;
  }
  void add_column(Table&, const char*, std::string_view, const Column<Small>&, bool) {}

  static TableIndex index_of(std::string_view name) {
    const auto found = std::ranges::find(trace::tables(), name, &TableInfo::name);
    return static_cast<TableIndex>(found - trace::tables().begin());
  }

  // Selects the row, and later what it refers to.
  void add(TableIndex table, Id row) {
    if (row < selected_.row_count(table) && selected_.add(table, row))
      todo_.push_back({table, row});
  }
  template <class Wanted>
  void add_rows(TableIndex table, Wanted wanted) {
    for (Id row = 0; row < selected_.row_count(table); ++row) {
      if (wanted(row)) add(table, row);
    }
  }
  void add_references() {
    while (!todo_.empty()) {
      const auto [table, row] = todo_.back();
      todo_.pop_back();
      for (const IdColumn& column : table_at(table).ids) {
        const std::string_view target = column.target != nullptr
                                            ? std::string_view(column.target)
                                            : hang_object_table(trace_.hang_node.kind[row]);
        const TableIndex referred = index_of(target);
        if (referred != kCount) add(referred, (*column.ids)[row]);
      }
    }
  }
  void add_details(TableIndex table) {
    const IdColumn& owner = table_at(table).ids.front();
    const TableIndex owners = index_of(owner.target);
    add_rows(table, [&](Id row) {
      const Id owned_by = (*owner.ids)[row];
      return owned_by < selected_.row_count(owners) && selected_.has(owners, owned_by);
    });
  }

  // The first reference of every table leads to its process; without one, a row concerns all.
  bool is_own(TableIndex table, Id row) {
    while (table != kProcess) {
      const IdColumn& owner = table_at(table).ids.front();
      row = (*owner.ids)[row];
      if (row == kNoId) return true;
      table = index_of(owner.target);
      if (row >= selected_.row_count(table)) return false;
    }
    return is_wanted(row);
  }
  bool is_wanted(Id process) const { return part_.process == kNoId || process == part_.process; }
  // Parameters of kernels, and tasks, have no times of their own but the call of their kernel.
  void add_parts_of_calls() {
    std::unordered_set<Int> calls;
    for (Id op = 0; op < trace_.op.size(); ++op) {
      if (selected_.has(kOp, op)) calls.insert(trace_.op.call_number[op]);
    }
    calls.erase(kNoInt);
    add_rows(kAccess, [&](Id row) {
      return trace_.access.start_ns[row] == kUnknownNs && is_own(kAccess, row) &&
             calls.contains(trace_.access.call_number[row]);
    });
    add_rows(kTaskRun, [&](Id run) {
      return is_own(kTaskRun, run) && calls.contains(trace_.task_run.call_number[run]);
    });
    add_rows(kTask, [&](Id task) {
      const Id run = trace_.task.task_run_id[task];
      return is_inside(kTask, task) ||
             (run < trace_.task_run.size() && selected_.has(kTaskRun, run));
    });
  }

  bool contains(Ns ns) const { return ns >= part_.start_ns && ns < part_.end_ns; }
  // Something that begins and ends then, or never if that is unknown, exists during the part.
  bool exists(Ns begin, Ns end) const {
    return (begin == kUnknownNs || begin < part_.end_ns) &&
           (end == kUnknownNs || end >= part_.start_ns);
  }
  bool is_inside(TableIndex table, Id row) {
    return contains((*table_at(table).first_time)[row]) && is_own(table, row);
  }
  bool runs_inside(Id op) const {
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    return start != kUnknownNs && start < part_.end_ns &&
           (end == kUnknownNs ? start : end) >= part_.start_ns;
  }
  bool is_op_inside(Id op) const {
    const Id call = trace_.op.api_call_id[op];
    if (part_.process == kNoId && runs_inside(op)) return true;
    return call < trace_.api_call.size() ? contains(trace_.api_call.start_ns[call])
                                         : contains(trace_.op.start_ns[op]);
  }

  const Trace& trace_;
  const Part& part_;
  Selection selected_;
  std::array<Table, kTableCount> tables_{};
  std::vector<std::pair<TableIndex, Id>> todo_;
};

}  // namespace

Part part_of_range(const Trace& trace, std::string_view name) {
  const RangeColumns& ranges = trace.range;
  bool is_open = false;
  for (Id range = static_cast<Id>(ranges.size()); range-- > 0;) {
    if (!is_named(trace.text(ranges.name_id[range]), name)) continue;
    is_open |= ranges.end_ns[range] == kUnknownNs;
    if (ranges.end_ns[range] == kUnknownNs) continue;
    return {trace.process_of_thread(ranges.thread_id[range]), ranges.start_ns[range],
            ranges.end_ns[range]};
  }
  throw Error("range " + std::string(name), is_open ? "has not ended" : "is not in the trace",
              is_open ? "repeat this once it has ended"
                      : "see SELECT value FROM string JOIN range ON string.id = name_id");
}

void cut(Trace trace, const Part& part, const std::filesystem::path& out, bool overwrite) {
  if (part.process != kNoId) {
    // Of the process the trace now has all that it says to have.
    trace.process.complete[part.process] = 1;
    trace.process.end_ns[part.process] = part.end_ns;
  }
  const Selection selected = PartSelection(trace, part).select();
  Writer writer = Writer::create(out, {.overwrite = overwrite, .read_meanwhile = false});
  copy_rows(trace, writer, {.only = &selected});
  for (const char* key : {"tier", "trace_start_realtime_ns", "imported_from", "kernel_arguments",
                          "observed_accesses", "sample_hz"}) {
    if (const auto found = trace.meta.find(key); found != trace.meta.end())
      writer.set_meta(key, found->second);
  }
  writer.finish(true);
}

}  // namespace streamscope::trace
