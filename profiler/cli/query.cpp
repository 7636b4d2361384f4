// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/read/query.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "command.h"
#include "jobs.h"
#include "report/export/export.h"
#include "report/export/job_tables.h"
#include "report/formats/json.h"
#include "report/formats/table.h"
#include "terminal.h"
#include "trace/loss.h"
#include "trace/read/reader.h"
#include "trace/tables.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

using trace::Cell;

void print_table(trace::Query& query) {
  const size_t columns = query.columns().size();
  std::vector<report::Column> head;
  for (const std::string& name : query.columns()) head.push_back({analysis::printable(name), true});
  std::vector<std::vector<std::string>> rows;
  while (query.next()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t i = 0; i < columns; ++i) {
      const Cell cell = query.cell(i);
      const bool is_null = std::holds_alternative<std::monostate>(cell);
      row.push_back(is_null ? "NULL" : analysis::printable(report::cell_text(cell)));
      // Numbers are aligned right; one text makes it a text column.
      if (std::holds_alternative<std::string_view>(cell)) head[i].right = false;
    }
  }
  for (const report::TableLine& line : report::lay_out(head, rows, terminal_width()))
    fmt::print("{}\n", line.text);
  fmt::print("({})\n", analysis::format_count(rows.size(), "row"));
}

void print_json(trace::Query& query) {
  using report::Json;
  const auto value = [](const Cell& cell) -> Json {
    if (const auto* integer = std::get_if<int64_t>(&cell)) return *integer;
    if (const auto* real = std::get_if<double>(&cell))
      return std::isfinite(*real) ? Json(*real) : Json();
    if (std::holds_alternative<std::monostate>(cell)) return Json();
    return report::cell_text(cell);
  };
  fmt::print("[");
  for (bool first = true; query.next(); first = false) {
    Json row = Json::object();
    for (size_t i = 0; i < query.columns().size(); ++i)
      row[query.columns()[i]] = value(query.cell(i));
    fmt::print("{}\n {}", first ? "" : ",",
               row.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  fmt::print("\n]\n");
}

// Of the tables of a job, made from its folder or stored by `export --to sqlite`, or of a trace.
trace::Query open_query(const std::string& file, const std::string& sql) {
  if (is_run(file)) return {report::job_tables(load_job(file, "auto", true)), sql};
  if (!trace::holds_memory_tables(file)) {
    recover(file);
    if (trace::is_unfinished(file)) note_unfinished(file);
  }
  return {file, sql};
}

std::string tables_and_views() {
  return fmt::format(
      "Views: {}, and those of an nsys export (CUPTI_ACTIVITY_KIND_KERNEL, StringIds, ...). "
      "Tables: meta, string, {}",
      fmt::join(trace::stable_views(), ", "), fmt::join(names_of(trace::tables()), ", "));
}

}  // namespace

std::function<int()> define_query(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string file, sql, format = "table";
  };
  auto options = std::make_shared<Options>();
  line.option("TRACE", &options->file, kTraceOrRun, {.required = true});
  line.option("SQL", &options->sql,
              "one read-only statement. " + tables_and_views() +
                  ". docs/trace-format.md describes them; docs/ranks.md those of a folder: " +
                  fmt::format("{}", fmt::join(report::job_table_names(), ", ")),
              {.required = true});
  const std::vector<std::string> formats{"table", "csv", "json"};
  line.option("--format", &options->format, alternatives(formats), {.one_of = formats});
  return [options]() -> int {
    trace::Query query = open_query(options->file, options->sql);
    if (options->format == "csv") {
      report::write_csv(query, [](std::string_view piece) { fmt::print("{}", piece); });
    } else if (options->format == "json") {
      print_json(query);
    } else {
      print_table(query);
    }
    return kDone;
  };
}

}  // namespace streamscope::cli
