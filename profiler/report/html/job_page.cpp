// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/units.h"
#include "page_parts.h"

namespace streamscope::report {
namespace {

using analysis::format_duration;
using job::Job;

constexpr size_t kMapLines = 64, kMapColumns = 160;
constexpr double kMapLeft = 90, kMapTop = 22, kMapWidth = 1080, kMapLineHeight = 14;

// Cells of the map: the worst of the ranks and iterations that they stand for.
struct Cell {
  double late_ns = 0;
  int32_t rank = -1;
  uint32_t iteration = 0;
};

struct Grid {
  size_t lines = 0, columns = 0, ranks_each = 1, iterations_each = 1;
  uint32_t first = 0;  // number of the first iteration
  std::vector<Cell> cells;

  double pitch() const { return std::min(kMapWidth / static_cast<double>(columns), 24.0); }
};

Grid grid_of(const Job& job) {
  Grid grid;
  uint32_t last = 0;
  grid.first = UINT32_MAX;
  for (const job::IterationRow& iteration : job.steps.iterations) {
    grid.first = std::min(grid.first, iteration.number);
    last = std::max(last, iteration.number);
  }
  if (job.steps.iterations.empty()) return grid;
  const size_t count = last - grid.first + 1, ranks = job.steps.ranks.size();
  grid.ranks_each = (ranks + kMapLines - 1) / kMapLines;
  grid.iterations_each = (count + kMapColumns - 1) / kMapColumns;
  grid.lines = (ranks + grid.ranks_each - 1) / grid.ranks_each;
  grid.columns = (count + grid.iterations_each - 1) / grid.iterations_each;
  grid.cells.resize(grid.lines * grid.columns);
  for (uint32_t row = 0; row < job.steps.iterations.size(); ++row) {
    const job::IterationRow& iteration = job.steps.iterations[row];
    Cell& cell = grid.cells[iteration.rank / grid.ranks_each * grid.columns +
                            (iteration.number - grid.first) / grid.iterations_each];
    const double late_ns = job.late_ns(row);
    if (cell.rank < 0 || late_ns > cell.late_ns)
      cell = {late_ns, job.steps.ranks[iteration.rank].identity.rank, iteration.number};
  }
  return grid;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     text);
}

std::string cells_of(const Job& job, const Grid& grid) {
  std::string text;
  for (size_t i = 0; i < grid.cells.size(); ++i) {
    const Cell& cell = grid.cells[i];
    if (cell.rank < 0) continue;
    // A tenth of an iteration is already much.
    const double strength = std::min(1.0, cell.late_ns / (0.1 * std::max(1.0, job.iteration_ns)));
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "fill-opacity=\"{:.2f}\">"
        "<title>rank {}, iteration {}: made each other rank wait {}</title></rect>\n",
        kMapLeft + static_cast<double>(i % grid.columns) * grid.pitch(),
        kMapTop + static_cast<double>(i / grid.columns) * kMapLineHeight,
        std::max(grid.pitch() - 1, 0.5), kMapLineHeight - 1, 0.06 + 0.94 * strength, cell.rank,
        cell.iteration + 1, format_duration(static_cast<trace::Ns>(std::llround(cell.late_ns))));
  }
  return text;
}

}  // namespace

std::string heat_map(const Job& job) {
  const Grid grid = grid_of(job);
  if (grid.cells.empty()) return "";
  std::string text = fmt::format(
      "<figure>\n<svg class=\"heat\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "role=\"img\" aria-label=\"How long each rank made the others wait, by iteration\">\n",
      kMapLeft + kMapWidth, kMapTop + static_cast<double>(grid.lines) * kMapLineHeight + 4);
  for (size_t column = 0; column<grid.columns; column += grid.columns> 60 ? 20 : 10)
    text += label(kMapLeft + static_cast<double>(column) * grid.pitch(), kMapTop - 7, "start",
                  fmt::format("{}", grid.first + column * grid.iterations_each + 1));
  const size_t each = grid.lines > 32 ? 8 : grid.lines > 16 ? 4 : 1;
  for (size_t line = 0; line < grid.lines; line += each)
    text += label(kMapLeft - 8, kMapTop + static_cast<double>(line) * kMapLineHeight + 11, "end",
                  fmt::format("rank {}", job.steps.ranks[line * grid.ranks_each].identity.rank));
  text += cells_of(job, grid) +
          "</svg>\n<figcaption>How long each rank made the others wait because "
          "of its own work, by iteration; full color: a tenth of an iteration or more";
  if (grid.ranks_each > 1)
    text += fmt::format(". A line is the worst of {} ranks", grid.ranks_each);
  if (grid.iterations_each > 1)
    text += fmt::format(". A column is the worst of {} iterations", grid.iterations_each);
  return text + ".</figcaption></figure>\n";
}

std::string job_html(const JobReport& report) {
  const Document document = job_document(report);
  std::string text = page_begin(document);
  bool is_first = true;
  for (const Section& section : document.sections) {
    text += section_of(section);
    if (is_first) text += heat_map(report.job);  // below what costs most
    is_first = false;
  }
  return text + "</main>\n</body>\n</html>\n";
}

}  // namespace streamscope::report
