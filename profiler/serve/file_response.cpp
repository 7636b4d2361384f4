// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "file_response.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "trace/error.h"

namespace streamscope::serve {
namespace {

// Of one state of a file.
struct FileState {
  uint64_t bytes = 0;
  std::string tag;
};

FileState state_of(const Descriptor& file) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0)
    throw Error("file", std::strerror(errno), remedy_for(errno), errno);
  char tag[80];
  std::snprintf(
      tag, sizeof tag, "\"%llx-%llx-%llx-%llx.%lx\"", static_cast<unsigned long long>(facts.st_dev),
      static_cast<unsigned long long>(facts.st_ino), static_cast<unsigned long long>(facts.st_size),
      static_cast<unsigned long long>(facts.st_mtim.tv_sec),
      static_cast<unsigned long>(facts.st_mtim.tv_nsec));
  return {.bytes = static_cast<uint64_t>(facts.st_size), .tag = tag};
}

struct Range {
  uint64_t begin = 0, end = 0;
};

std::optional<uint64_t> parse_offset(std::string_view digits) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

// Of what follows "bytes=": FIRST-LAST, FIRST- or -COUNT. nullopt if it is no range of the file.
std::optional<Range> parse_range(std::string_view text, uint64_t bytes) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos || bytes == 0) return std::nullopt;
  const auto first = parse_offset(text.substr(0, dash)), last = parse_offset(text.substr(dash + 1));
  const bool ends_open = dash + 1 == text.size();
  if (!ends_open && !last) return std::nullopt;
  if (dash == 0) {
    if (ends_open || *last == 0) return std::nullopt;
    return Range{bytes - std::min(bytes, *last), bytes};
  }
  if (!first || *first >= bytes || (last && *last < *first)) return std::nullopt;
  return Range{*first, last ? std::min(*last, bytes - 1) + 1 : bytes};
}

std::string_view header(const Request& request, const std::string& name) {
  const auto found = request.headers.find(name);
  return found == request.headers.end() ? std::string_view() : std::string_view(found->second);
}

bool names_tag(std::string_view list, std::string_view tag) {
  return list == "*" || list.find(tag) != std::string_view::npos;
}

Pieces pieces_of(std::shared_ptr<const Descriptor> file, const Range& range, std::string tag) {
  const auto next = [file = std::move(file), tag = std::move(tag),
                     at = range.begin](size_t most) mutable {
    std::string piece(most, '\0');
    ssize_t got = 0;
    do {
      got = ::pread(file->get(), piece.data(), piece.size(), static_cast<off_t>(at));
    } while (got < 0 && errno == EINTR);
    piece.resize(got > 0 ? static_cast<size_t>(got) : 0);
    at += piece.size();
    return state_of(*file).tag == tag ? piece : std::string();
  };
  return {.bytes = range.end - range.begin, .next = next};
}

}  // namespace

Response file_response(const Request& request, std::shared_ptr<const Descriptor> file,
                       std::string type) {
  constexpr std::string_view kUnit = "bytes=";
  const FileState state = state_of(*file);
  const std::string size = std::to_string(state.bytes);
  if (const auto match = header(request, "if-match");
      !match.empty() && !names_tag(match, state.tag)) {
    Response changed = text_response(412, "the file has changed");
    changed.headers = {{"ETag", state.tag}};
    return changed;
  }
  Response response{.type = std::move(type),
                    .headers = {{"Accept-Ranges", "bytes"}, {"ETag", state.tag}}};
  Range range{0, state.bytes};
  const std::string_view wanted = header(request, "range"), same = header(request, "if-range");
  if (wanted.starts_with(kUnit) && (same.empty() || same == state.tag)) {
    const auto parsed = parse_range(wanted.substr(kUnit.size()), state.bytes);
    if (!parsed) {
      Response wrong = text_response(416, "the range is not in the file");
      wrong.headers = {{"Content-Range", "bytes */" + size}, {"ETag", state.tag}};
      return wrong;
    }
    range = *parsed;
    response.status = 206;
    response.headers.emplace_back("Content-Range", "bytes " + std::to_string(range.begin) + "-" +
                                                       std::to_string(range.end - 1) + "/" + size);
  }
  response.pieces = pieces_of(std::move(file), range, state.tag);
  return response;
}

}  // namespace streamscope::serve
