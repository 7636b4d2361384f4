// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "loader.h"

#include <algorithm>
#include <exception>
#include <variant>

#include "analysis/derive.h"
#include "sketch.h"
#include "trace/error.h"
#include "trace/query.h"

namespace streamscope::viewer {
namespace {

int64_t row_count(const std::filesystem::path& file, std::string_view table) {
  trace::Query query(file, "SELECT coalesce(max(id) + 1, 0) FROM " + std::string(table));
  return query.next() ? std::get<int64_t>(query.cell(0)) : 0;
}

// True if nothing of the trace is to be analysed, only shown.
bool is_derived(const std::filesystem::path& file, size_t derive_up_to) {
  trace::ReadOptions options;
  options.only = {"hang"};
  const trace::Trace head = trace::read(file, options);
  return analysis::has_derived_tables(head) && head.hang.empty() &&
         row_count(file, "op") > static_cast<int64_t>(derive_up_to);
}

// All tables but the packed ones and the pyramid, which a sketch is made from.
std::vector<std::string_view> other_tables() {
  const std::vector<std::string_view> packed = PackedTables::names();
  std::vector<std::string_view> names;
#define STREAMSCOPE_NAME(sql_name, Row, COLUMNS) names.push_back(#sql_name);
  STREAMSCOPE_TABLES(STREAMSCOPE_NAME)
#undef STREAMSCOPE_NAME
  std::erase_if(names, [&](std::string_view name) {
    return name == "lod" || std::ranges::find(packed, name) != packed.end();
  });
  return names;
}

}  // namespace

std::shared_ptr<const Document> read_document(const std::filesystem::path& file,
                                              const Progress& progress, size_t derive_up_to) {
  if (is_derived(file, derive_up_to)) {
    std::vector<std::vector<std::string_view>> parts{other_tables()};
    for (const std::string_view name : PackedTables::names()) parts.push_back({name});
    PackedTables tables;
    trace::Trace others;
    for (size_t part = 0; part < parts.size(); ++part) {
      trace::ReadOptions options;
      options.only = parts[part];
      options.progress = [&](double fraction) {
        return !progress ||
               progress((static_cast<double>(part) + fraction) / static_cast<double>(parts.size()));
      };
      trace::Trace read = trace::read(file, options);
      if (part == 0) {
        others = std::move(read);
      } else {
        tables.take(read);
      }
    }
    // What never returned is worth an analysis, however large the trace.
    if (!has_open_calls(tables))
      return std::make_shared<const Document>(std::move(others), std::move(tables));
  }
  trace::ReadOptions options;
  options.progress = progress;
  return std::make_shared<const Document>(trace::read(file, options));
}

bool has_log(const std::filesystem::path& file) {
  std::error_code absent;
  const uintmax_t bytes = std::filesystem::file_size(file.string() + "-wal", absent);
  return !absent && bytes > 0;
}

Loader::Loader(std::filesystem::path file, int width_px, std::function<void()> on_change)
    : on_change_(std::move(on_change)), worker_([this, file = std::move(file), width_px] {
        try {
          load(file, width_px);
        } catch (const std::exception& error) {
          const std::lock_guard lock(mutex_);
          error_ = explain(error);
        }
        progress_ = 1;
        on_change_();
      }) {}

Loader::~Loader() {
  cancelled_ = true;
  wait();
}

void Loader::load(const std::filesystem::path& file, int width_px) {
  if (std::optional<trace::Trace> sketch = read_sketch(file, width_px))
    publish(std::make_shared<const Document>(std::move(*sketch), true));
  publish(read_document(file, [this](double fraction) {
    if (fraction - progress_ >= 0.01) {
      progress_ = fraction;
      on_change_();
    }
    return !cancelled_;
  }));
}

void Loader::publish(std::shared_ptr<const Document> document) {
  {
    const std::lock_guard lock(mutex_);
    document_ = std::move(document);
  }
  on_change_();
}

std::shared_ptr<const Document> Loader::document() const {
  const std::lock_guard lock(mutex_);
  return document_;
}

std::string Loader::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Loader::wait() {
  if (worker_.joinable()) worker_.join();
}

}  // namespace streamscope::viewer
