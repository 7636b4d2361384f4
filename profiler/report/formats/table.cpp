// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "table.h"

#include <fmt/format.h>

#include <algorithm>

namespace streamscope::report {
namespace {

constexpr std::string_view kGap = "  ";
constexpr size_t kNarrowest = 12;  // a text column is not squeezed below this

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::string padded(std::string_view text, size_t width, bool right) {
  const size_t missing = width - std::min(width, display_width(text));
  return right ? std::string(missing, ' ') + std::string(text)
               : std::string(text) + std::string(missing, ' ');
}

// The heading of a group of columns: its name centered in a line above them.
std::string ruled(const std::string& name, size_t width) {
  const std::string text = shortened(name, width);
  if (width < display_width(text) + 4) return padded(text, width, false);
  return fmt::format("{:─^{}}", " " + text + " ", width);
}

}  // namespace

size_t display_width(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

std::string shortened(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  size_t bytes = 0;
  for (size_t shown = 0; bytes < text.size(); ++bytes) {
    if (!continues_code_point(text[bytes]) && ++shown == width) break;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

namespace {

// A column and its width.
struct Used {
  const Column* column;
  size_t index, width;
};

std::vector<Used> widths_of(const std::vector<Column>& columns,
                            const std::vector<std::vector<std::string>>& rows) {
  std::vector<Used> used;
  for (size_t index = 0; index < columns.size(); ++index) {
    size_t widest = display_width(columns[index].name);
    for (const auto& row : rows) {
      if (index < row.size()) widest = std::max(widest, display_width(row[index]));
    }
    used.push_back({&columns[index], index, widest});
  }
  return used;
}

// Shrinks text columns, the last one first, until the table fits.
void squeeze(std::vector<Used>& used, size_t width) {
  size_t total = 0;
  for (const Used& column : used) total += kGap.size() + column.width;
  for (size_t i = used.size(); i-- > 0 && total > width;) {
    if (used[i].column->right) continue;
    const size_t give =
        std::min(total - width, used[i].width - std::min(used[i].width, kNarrowest));
    used[i].width -= give;
    total -= give;
  }
}

// A text that is wider than its column is wrapped.
template <class Cell>
void add_lines(std::vector<TableLine>& lines, const std::vector<Used>& block, bool head,
               Cell cell) {
  std::vector<std::vector<std::string>> cells;
  size_t height = 1;
  for (const Used& column : block) {
    const std::string_view text = cell(column);
    cells.push_back(column.column->right ? std::vector<std::string>{std::string(text)}
                                         : wrapped(text, column.width));
    height = std::max(height, cells.back().size());
  }
  for (size_t row = 0; row < height; ++row) {
    std::string text;
    for (size_t i = 0; i < block.size(); ++i) {
      const std::string part =
          row < cells[i].size() ? shortened(cells[i][row], block[i].width) : "";
      text += kGap;
      text += padded(part, block[i].width, block[i].column->right);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    lines.push_back({std::move(text), head});
  }
}

// The line above the columns with the names of their groups, if any.
void add_groups(std::vector<TableLine>& lines, const std::vector<Used>& block) {
  std::string groups;
  for (size_t i = 0; i < block.size();) {
    const std::string& group = block[i].column->group;
    size_t end = i, span = 0;
    for (; end < block.size() && block[end].column->group == group; ++end)
      span += kGap.size() + block[end].width;
    groups += kGap;
    groups +=
        group.empty() ? std::string(span - kGap.size(), ' ') : ruled(group, span - kGap.size());
    i = end;
  }
  if (groups.find_first_not_of(' ') == std::string::npos) return;
  groups.erase(groups.find_last_not_of(' ') + 1);
  lines.push_back({std::move(groups), true});
}

}  // namespace

std::vector<TableLine> lay_out(const std::vector<Column>& columns,
                               const std::vector<std::vector<std::string>>& rows, size_t width) {
  std::vector<Used> used = widths_of(columns, rows);
  std::vector<TableLine> lines;
  if (width > 0) squeeze(used, width);

  for (size_t first = 0; first < used.size();) {
    // As many columns as fit, but at least one besides the repeated one.
    std::vector<Used> block;
    size_t block_width = 0;
    if (first > 0) {
      block.push_back(used[0]);
      block_width = kGap.size() + used[0].width;
    }
    const size_t before = first;
    while (first < used.size() && (width == 0 || first == before ||
                                   block_width + kGap.size() + used[first].width <= width)) {
      block_width += kGap.size() + used[first].width;
      block.push_back(used[first++]);
    }
    add_groups(lines, block);
    add_lines(lines, block, true,
              [](const Used& column) { return std::string_view(column.column->name); });
    for (const auto& row : rows) {
      add_lines(lines, block, false, [&](const Used& column) {
        return column.index < row.size() ? std::string_view(row[column.index]) : std::string_view();
      });
    }
  }
  return lines;
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines(1);
  size_t used = 0;
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const size_t needed = display_width(word);
    if (used > 0 && width > 0 && used + 1 + needed > width) {
      lines.emplace_back();
      used = 0;
    }
    if (used > 0) {
      lines.back() += ' ';
      ++used;
    }
    lines.back() += word;
    used += needed;
  }
  return lines;
}

}  // namespace streamscope::report
