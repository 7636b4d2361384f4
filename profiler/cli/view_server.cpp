// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "view_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "installed_page.h"
#include "serve/file_response.h"
#include "serve/server.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/read/whole_file.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;
using OpenFile = std::shared_ptr<const Descriptor>;

constexpr char kTraceType[] = "application/vnd.streamscope.trace";
constexpr std::string_view kTracePath = "/trace/";
constexpr std::string_view kPlainPath = "/plain/";  // the page without threads, with all beside it

// The page runs what is in it and connects to this server, nothing else.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; style-src "
    "'unsafe-inline'; img-src data: blob:; font-src data:; connect-src 'self'; worker-src blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

uint64_t size_of(const OpenFile& file) {
  struct stat facts {};
  return ::fstat(file->get(), &facts) == 0 ? static_cast<uint64_t>(facts.st_size) : 0;
}

class ServedTrace {
 public:
  // Copies a trace that has a log, and says so.
  explicit ServedTrace(PageTrace trace) : trace_(std::move(trace)) {
    const std::string given = trace_.file.string();
    trace_.file = fs::absolute(trace_.file);
    recover(trace_.file);
    trace::WholeFile whole = trace::WholeFile::open(trace_.file);
    if (!whole.is_copy()) return;
    copy_ = std::make_shared<Descriptor>(whole.release());
    message(
        "{}: is still being recorded, or its recorder ended first; serves a copy of what it "
        "contains now",
        given);
  }

  const PageTrace& trace() const { return trace_; }
  // Its content now; null if it cannot be read or is being written.
  OpenFile open() const {
    if (copy_) return copy_;
    // Not one that waits for a writer, should it no longer be a plain file.
    auto file = std::make_shared<Descriptor>(
        ::open(trace_.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (file->get() < 0 || ::fstat(file->get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
        trace::has_log(trace_.file))
      return nullptr;
    return file;
  }

 private:
  PageTrace trace_;
  OpenFile copy_;
};

// Consecutive parts as one body.
serve::Pieces pieces_of(std::vector<std::shared_ptr<const std::string>> parts) {
  serve::Pieces pieces;
  for (const auto& part : parts) pieces.bytes += part->size();
  pieces.next = [parts = std::move(parts), part = size_t{0}, at = size_t{0}](size_t most) mutable {
    while (part < parts.size() && at == parts[part]->size()) {
      ++part;
      at = 0;
    }
    if (part == parts.size()) return std::string();
    std::string piece = parts[part]->substr(at, most);
    at += piece.size();
    return piece;
  };
  return pieces;
}

// The page of the viewer, to be sent with elements of traces inside, and its program beside it.
class ServedPage {
 public:
  explicit ServedPage(report::ViewerPage page) {
    report::allow_connections_to_server(page);
    code_ = std::make_shared<const std::string>(report::take_code(page));
    before_ = std::make_shared<const std::string>(std::move(page.before));
    after_ = std::make_shared<const std::string>(std::move(page.after));
  }

  bool has_code() const { return !code_->empty(); }
  serve::Pieces code() const { return pieces_of({code_}); }
  serve::Pieces with(std::string elements) const {
    return pieces_of({before_, std::make_shared<const std::string>(std::move(elements)), after_});
  }

 private:
  std::shared_ptr<const std::string> before_, after_, code_;
};

class ViewServer {
 public:
  explicit ViewServer(const std::vector<fs::path>& traces) : plain_(installed_page()) {
    if (std::optional<report::ViewerPage> page = installed_page_with_threads())
      with_threads_.emplace(std::move(*page));
    for (const fs::path& given : traces) {
      std::vector<PageTrace> found = page_traces(given);
      if (found.empty()) continue;
      const std::string run = unused_run(found.front().run);
      for (PageTrace& trace : found) {
        trace.run = run;
        traces_.emplace_back(std::move(trace));
      }
    }
  }

  serve::Response respond(const serve::Request& request) const {
    if (request.method != "GET") return serve::not_found();
    std::string_view path = request.path;
    const bool is_plain = path.starts_with(kPlainPath);
    if (is_plain) path.remove_prefix(kPlainPath.size() - 1);
    const ServedPage& page = !is_plain && with_threads_ ? *with_threads_ : plain_;
    serve::Response response;
    if (path == "/") {
      response = {.type = "text/html; charset=utf-8", .pieces = page.with(trace_elements())};
      response.headers = {{"Content-Security-Policy", kPolicy}};
    } else if (path == "/code" && page.has_code()) {
      response = {.type = "application/gzip", .pieces = page.code()};
    } else if (const ServedTrace* trace = find(path)) {
      const OpenFile file = trace->open();
      response = file ? serve::file_response(request, file, kTraceType)
                      : serve::text_response(
                            409, "the trace is gone or being written; start view --serve again");
    } else {
      return serve::not_found();
    }
    response.headers.insert(response.headers.end(),
                            {{"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Embedder-Policy", "require-corp"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"Referrer-Policy", "no-referrer"}});
    return response;
  }

 private:
  std::string trace_elements() const {
    std::string elements;
    for (size_t i = 0; i < traces_.size(); ++i) {
      const OpenFile file = traces_[i].open();
      const PageTrace& trace = traces_[i].trace();
      elements += fmt::format(
          "{}{} data-url=\"trace/{}\"></script>", i > 0 ? "\n    " : "",
          report::begin_trace_element(trace.name(), file ? size_of(file) : 0, trace.run), i);
    }
    return elements;
  }

  // Runs of one name get a number, too; "" if it is no run.
  std::string unused_run(const std::string& name) const {
    std::string unused = name;
    const auto is_unused = [&](const ServedTrace& trace) { return trace.trace().run != unused; };
    for (int i = 2; !name.empty() && !std::ranges::all_of(traces_, is_unused); ++i)
      unused = fmt::format("{} ({})", name, i);
    return unused;
  }

  // /trace/I; null if there is none.
  const ServedTrace* find(std::string_view path) const {
    if (!path.starts_with(kTracePath)) return nullptr;
    const std::string_view digits = path.substr(kTracePath.size());
    size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = error == std::errc() && digits == std::to_string(number);
    return is_number && number < traces_.size() ? &traces_[number] : nullptr;
  }

  ServedPage plain_;
  std::optional<ServedPage> with_threads_;
  std::vector<ServedTrace> traces_;
};

// A terminal that is closed, or a pipe without a reader.
void wait_until_no_one_reads_output() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0};
  while (::poll(&output, 1, -1) < 0 && errno == EINTR) {
  }
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "HOST";
}

}  // namespace

void serve_viewer(uint16_t port, const std::vector<fs::path>& traces) {
  const ViewServer content(traces);
  const std::string token = serve::new_token();
  const serve::Server server = serve::Server::on_loopback(
      fmt::format("127.0.0.1:{}", port),
      [&](const serve::Request& request) { return content.respond(request); },
      {.token = token, .token_in_path = true});
  fmt::print("http://127.0.0.1:{}/{}/\n", server.port(), token);
  std::fflush(stdout);
  message(
      "open this address in a browser; from another machine first run ssh -L {0}:127.0.0.1:{0} "
      "{1}. Ctrl-C ends this",
      server.port(), host_name());
  wait_until_no_one_reads_output();
}

}  // namespace streamscope::cli
