// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// drop_files X Y FILE...: drags files to a screen position and drops them, as a file manager does:
// a source of the X drag-and-drop protocol, version 5. Exits with 0 if the window accepted them,
// else with 1.

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

namespace {

constexpr long kVersion = 5;
constexpr std::chrono::seconds kPatience{30};

class Source {
 public:
  Source(Display* display, std::string files) : display_(display), files_(std::move(files)) {
    window_ = XCreateSimpleWindow(display_, DefaultRootWindow(display_), 0, 0, 1, 1, 0, 0, 0);
    XSetSelectionOwner(display_, selection_, window_, CurrentTime);
  }

  bool drop_at(int x, int y) {
    target_ = aware_window_at(x, y);
    if (target_ == None) {
      std::fprintf(stderr, "no window at %d,%d takes drops\n", x, y);
      return false;
    }
    report("XdndEnter", {static_cast<long>(window_), kVersion << 24, static_cast<long>(uri_list_)});
    report("XdndPosition", {static_cast<long>(window_), 0, (static_cast<long>(x) << 16) | y,
                            CurrentTime, static_cast<long>(atom("XdndActionCopy"))});
    const std::optional<XClientMessageEvent> status = answer("XdndStatus");
    if (!status || (status->data.l[1] & 1) == 0) {
      std::fprintf(stderr, "the window does not take files\n");
      return false;
    }
    report("XdndDrop", {static_cast<long>(window_), 0, CurrentTime});
    const std::optional<XClientMessageEvent> finished = answer("XdndFinished");
    if (!finished) std::fprintf(stderr, "the window did not finish the drop\n");
    return finished.has_value();
  }

 private:
  Atom atom(const char* name) const { return XInternAtom(display_, name, False); }

  bool is_aware(Window window) const {
    Atom type = None;
    int format = 0;
    unsigned long count = 0, rest = 0;
    unsigned char* value = nullptr;
    XGetWindowProperty(display_, window, atom("XdndAware"), 0, 1, False, AnyPropertyType, &type,
                       &format, &count, &rest, &value);
    if (value != nullptr) XFree(value);
    return type != None;
  }

  // From the root down to the window that supports drag and drop.
  Window aware_window_at(int x, int y) const {
    const Window root = DefaultRootWindow(display_);
    for (Window at = root; at != None;) {
      if (is_aware(at)) return at;
      Window child = None;
      int local_x = 0, local_y = 0;
      XTranslateCoordinates(display_, root, at, x, y, &local_x, &local_y, &child);
      at = child;
    }
    return None;
  }

  void report(const char* message, std::array<long, 5> data) const {
    XEvent event{};
    event.xclient.type = ClientMessage;
    event.xclient.window = target_;
    event.xclient.message_type = atom(message);
    event.xclient.format = 32;
    for (size_t i = 0; i < data.size(); ++i) event.xclient.data.l[i] = data[i];
    XSendEvent(display_, target_, False, NoEventMask, &event);
    XFlush(display_);
  }

  // Sends the files on request until the target sends this message.
  std::optional<XClientMessageEvent> answer(const char* message) const {
    const Atom wanted = atom(message);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < until) {
      pollfd ready{ConnectionNumber(display_), POLLIN, 0};
      if (XPending(display_) == 0 && poll(&ready, 1, 100) <= 0) continue;
      while (XPending(display_) > 0) {
        XEvent event;
        XNextEvent(display_, &event);
        if (event.type == SelectionRequest) hand_out(event.xselectionrequest);
        if (event.type == ClientMessage && event.xclient.message_type == wanted)
          return event.xclient;
      }
    }
    return std::nullopt;
  }

  void hand_out(const XSelectionRequestEvent& request) const {
    XEvent reply{};
    reply.xselection.type = SelectionNotify;
    reply.xselection.requestor = request.requestor;
    reply.xselection.selection = request.selection;
    reply.xselection.target = request.target;
    reply.xselection.time = request.time;
    if (request.target == uri_list_) {
      XChangeProperty(display_, request.requestor, request.property, uri_list_, 8, PropModeReplace,
                      reinterpret_cast<const unsigned char*>(files_.data()),
                      static_cast<int>(files_.size()));
      reply.xselection.property = request.property;
    }
    XSendEvent(display_, request.requestor, False, NoEventMask, &reply);
    XFlush(display_);
  }

  Display* display_;
  std::string files_;  // as text/uri-list
  Atom selection_ = atom("XdndSelection"), uri_list_ = atom("text/uri-list");
  Window window_ = None, target_ = None;
};

// Escapes everything except letters, digits and the usual characters of paths.
std::string uri_of(const std::string& path) {
  std::string uri = "file://";
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' ||
        c == '-') {
      uri += c;
    } else {
      std::array<char, 4> code;
      std::snprintf(code.data(), code.size(), "%%%02X", static_cast<unsigned char>(c));
      uri += code.data();
    }
  }
  return uri;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: drop_files X Y FILE...\n");
    return 2;
  }
  Display* display = XOpenDisplay(nullptr);
  if (display == nullptr) {
    std::fprintf(stderr, "no display\n");
    return 2;
  }
  std::string files;
  for (int i = 3; i < argc; ++i) files += uri_of(argv[i]) + "\r\n";
  const bool taken = Source(display, files).drop_at(std::atoi(argv[1]), std::atoi(argv[2]));
  XCloseDisplay(display);
  return taken ? 0 : 1;
}
