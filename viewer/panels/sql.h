// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// SQL over the trace file. Queries run on a separate thread and are read-only. A click on a row of
// a result that names ops (a column id of v_op, or op_id) selects the op in the timeline.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "grid.h"
#include "model/background.h"
#include "window/view.h"

namespace streamscope::trace {
class Query;
}

namespace streamscope::viewer {

class SqlView : public View {
 public:
  SqlView();
  ~SqlView() override;
  std::string_view name() const override { return "sql"; }
  std::string_view title() const override { return "SQL"; }
  void draw(const TraceModel& model, ViewState& state, const Theme& theme) override;

 private:
  struct Result {
    std::vector<std::string> columns;
    std::vector<std::vector<GridCell>> rows;
    bool cut = false;  ///< there were more rows
    double seconds = 0;
    std::string error;
  };
  void run(const TraceModel& model);
  void stop();
  void show(Result result);
  static Result execute(const std::filesystem::path& file, const std::string& sql, SqlView& self);

  std::array<char, 8192> text_{};
  uint64_t prepared_ = 0;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;                     // of what is below
  std::unique_ptr<trace::Query> query_;  // while it runs, so that it can be interrupted
  Result shown_;
  Grid grid_;
  std::optional<size_t> id_column_, selected_;
  Background<Result> running_;  // last: it uses the others
};

}  // namespace streamscope::viewer
