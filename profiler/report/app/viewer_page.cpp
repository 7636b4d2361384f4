// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "viewer_page.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "packed_text.h"
#include "report/formats/markup.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

constexpr std::string_view kPlace = "<!-- streamscope: traces -->";
constexpr std::string_view kNoConnections = "connect-src 'none'";
constexpr std::string_view kToServer = "connect-src 'self'";
constexpr std::string_view kCode = R"(<script type="application/gzip" id="code">)";
constexpr std::string_view kFetchedCode =
    R"(<script type="application/gzip" id="code" data-url="code">)";
constexpr std::string_view kCodeEnd = "</script>";
constexpr char kRemedy[] = "use the viewer.html of this version of StreamScope";

}  // namespace

ViewerPage read_viewer_page(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (!in.is_open() || in.bad()) throw Error(file, "cannot be read", "check path and permissions");
  const size_t at = text.find(kPlace);
  if (at == std::string::npos || text.find(kPlace, at + 1) != std::string::npos)
    throw Error(file, fmt::format("is no page of the viewer: it does not have '{}' once", kPlace),
                kRemedy);
  ViewerPage page{.before = text.substr(0, at), .after = text.substr(at + kPlace.size())};
  return page;
}

void allow_connections_to_server(ViewerPage& page) {
  size_t found = 0;
  for (std::string* part : {&page.before, &page.after}) {
    for (size_t at = 0; (at = part->find(kNoConnections, at)) != std::string::npos; ++found)
      part->replace(at, kNoConnections.size(), kToServer);
  }
  if (found != 1)
    throw Error("the page of the viewer",
                fmt::format("has \"{}\" {} times instead of once", kNoConnections, found), kRemedy);
}

std::string take_code(ViewerPage& page) {
  for (std::string* part : {&page.before, &page.after}) {
    const size_t at = part->find(kCode);
    const size_t end = at == std::string::npos ? at : part->find(kCodeEnd, at);
    if (end == std::string::npos) continue;
    const size_t begin = at + kCode.size();
    std::string code = from_base64(std::string_view(*part).substr(begin, end - begin));
    part->replace(at, end - at, kFetchedCode);
    return code;
  }
  return {};
}

std::string begin_trace_element(std::string_view name, uint64_t bytes, std::string_view run) {
  const std::string of_run =
      run.empty() ? "" : fmt::format(R"( data-run="{}")", escape_markup(run));
  return fmt::format(
      R"(<script type="application/vnd.streamscope.trace" data-name="{}" data-bytes="{}"{})",
      escape_markup(name), bytes, of_run);
}

}  // namespace streamscope::report
