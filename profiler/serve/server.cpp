// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "exchange.h"
#include "listening_socket.h"
#include "outgoing.h"
#include "trace/error.h"

namespace streamscope::serve {
namespace {

template <auto Release>
struct Releasing {
  template <typename T>
  void operator()(T* object) const {
    Release(object);
  }
};
using EventBase = std::unique_ptr<event_base, Releasing<event_base_free>>;
using Event = std::unique_ptr<event, Releasing<event_free>>;
using Buffers = std::unique_ptr<bufferevent, Releasing<bufferevent_decref>>;
using Http = std::unique_ptr<evhttp, Releasing<evhttp_free>>;

// After accept() has failed, for lack of descriptors or memory.
constexpr timeval kPause{.tv_sec = 0, .tv_usec = 200'000};

constexpr size_t kUnreadBytes = 4096;

timeval time_of(std::chrono::milliseconds time) {
  return {.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000};
}

template <typename T>
T* required(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

// While it lives, new threads take no signals; a write to a closed connection raises one, too.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// Everything but the constructor and the destructor runs on the thread.
class Server::Running {
 public:
  Running(ListeningSocket socket, Handler handler, std::optional<Access> access,
          const Limits& limits);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  uint16_t port() const { return socket_.port(); }

 private:
  // Exists as long as libevent's own.
  struct Connection {
    void watch_end();

    Running* server = nullptr;
    Buffers buffers;
    Event accepted, deadline;
    std::unique_ptr<Outgoing> outgoing;
  };

  void listen();
  bufferevent* accept();
  void close(bufferevent* buffers);
  void respond(evhttp_request* request);
  void restart_deadline(bufferevent* buffers);

  ListeningSocket socket_;
  Handler handler_;
  std::optional<Access> access_;
  Limits limits_;
  EventBase base_;
  std::map<bufferevent*, std::unique_ptr<Connection>> connections_;
  Descriptor ending_;
  Event at_end_;
  Http http_;
  evconnlistener* listener_ = nullptr;  // belongs to http_
  std::thread thread_;
};

Server::Running::Running(ListeningSocket socket, Handler handler, std::optional<Access> access,
                         const Limits& limits)
    : socket_(std::move(socket)),
      handler_(std::move(handler)),
      access_(std::move(access)),
      limits_(limits),
      base_(required(event_base_new())),
      ending_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (ending_.get() < 0)
    throw Error("server", std::string("cannot be started: ") + std::strerror(errno),
                remedy_for(errno), errno);
  event_set_log_callback([](int, const char*) {});  // what clients do wrong is not printed
  at_end_.reset(required(event_new(
      base_.get(), ending_.get(), EV_READ,
      [](evutil_socket_t, short, void* base) {
        event_base_loopbreak(static_cast<event_base*>(base));
      },
      base_.get())));
  event_add(at_end_.get(), nullptr);

  http_.reset(required(evhttp_new(base_.get())));
  evhttp_set_max_headers_size(http_.get(), static_cast<ev_ssize_t>(limits_.header_bytes));
  evhttp_set_max_body_size(http_.get(), static_cast<ev_ssize_t>(limits_.body_bytes));
  const timeval idle = time_of(limits_.idle);
  evhttp_set_timeout_tv(http_.get(), &idle);
  evhttp_set_flags(http_.get(), EVHTTP_SERVER_LINGERING_CLOSE);
  evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST |
                                              EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE);
  evhttp_set_bevcb(
      http_.get(), [](event_base*, void* self) { return static_cast<Running*>(self)->accept(); },
      this);
  evhttp_set_gencb(
      http_.get(),
      [](evhttp_request* request, void* self) { static_cast<Running*>(self)->respond(request); },
      this);
  listen();

  const BlockedSignals blocked;
  thread_ = std::thread([base = base_.get()] { event_base_dispatch(base); });
}

Server::Running::~Running() {
  const uint64_t one = 1;
  while (::write(ending_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
  listener_ = nullptr;
}

void Server::Running::listen() {
  listener_ = required(evconnlistener_new(base_.get(), nullptr, nullptr, LEV_OPT_CLOSE_ON_EXEC, 0,
                                          socket_.descriptor()));
  if (evhttp_bind_listener(http_.get(), listener_) == nullptr) {
    evconnlistener_free(listener_);
    throw std::bad_alloc();
  }
  evconnlistener_set_error_cb(listener_, [](evconnlistener* listener, void*) {
    evconnlistener_disable(listener);
    event_base_once(
        evconnlistener_get_base(listener), -1, EV_TIMEOUT,
        [](evutil_socket_t, short, void* paused) {
          evconnlistener_enable(static_cast<evconnlistener*>(paused));
        },
        listener, &kPause);
  });
}

// Makes the bufferevent of a connection that is being accepted. For nullptr libevent makes one,
// whose connection has only the idle timeout.
bufferevent* Server::Running::accept() try {
  auto connection = std::make_unique<Connection>();
  connection->server = this;
  bufferevent* buffers = required(bufferevent_socket_new(base_.get(), -1, BEV_OPT_CLOSE_ON_FREE));
  connection->buffers.reset(buffers);
  connection->accepted.reset(required(event_new(
      base_.get(), -1, 0,
      [](evutil_socket_t, short, void* self) { static_cast<Connection*>(self)->watch_end(); },
      connection.get())));
  connection->deadline.reset(required(event_new(
      base_.get(), -1, 0,
      [](evutil_socket_t, short, void* self) {
        bufferevent_trigger_event(static_cast<Connection*>(self)->buffers.get(),
                                  BEV_EVENT_READING | BEV_EVENT_TIMEOUT, 0);
      },
      connection.get())));
  event_active(connection->accepted.get(), EV_WRITE, 0);
  connections_.emplace(buffers, std::move(connection));
  restart_deadline(buffers);
  if (connections_.size() >= limits_.connections) evconnlistener_disable(listener_);
  bufferevent_incref(buffers);  // for libevent's connection
  return buffers;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// libevent 2.1 reports no new connection before its first request, but the argument of the
// callbacks that it has set meanwhile is the connection. They are gone if it could not accept it.
void Server::Running::Connection::watch_end() {
  bufferevent_event_cb callback = nullptr;
  void* connection = nullptr;
  bufferevent_getcb(buffers.get(), nullptr, nullptr, &callback, &connection);
  if (callback == nullptr) return server->close(buffers.get());
  evhttp_connection_set_closecb(
      static_cast<evhttp_connection*>(connection),
      [](evhttp_connection*, void* self) {
        const auto& own = *static_cast<Connection*>(self);
        own.server->close(own.buffers.get());
      },
      this);
}

void Server::Running::close(bufferevent* buffers) {
  connections_.erase(buffers);
  if (listener_ != nullptr && connections_.size() < limits_.connections)
    evconnlistener_enable(listener_);
}

void Server::Running::respond(evhttp_request* request) {
  Response response = respond_to(request, access_ ? &*access_ : nullptr, handler_);
  // Timeouts begin at the loop's own time, which is that of before the handler.
  event_base_update_cache_time(base_.get());
  bufferevent* buffers = evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
  restart_deadline(buffers);
  // What a client sends during the response is never read, so it must not pile up.
  bufferevent_setwatermark(buffers, EV_READ, 0, kUnreadBytes);
  const auto found = connections_.find(buffers);
  if (!has_pieces_to_send(request, response) || found == connections_.end())
    return send(request, response);
  const timeval idle = time_of(limits_.idle);
  bufferevent_set_timeouts(buffers, nullptr, &idle);  // it has nothing more to send
  add_headers(request, response);
  found->second->outgoing = std::make_unique<Outgoing>(
      request, std::move(*response.pieces), [this, buffers] { restart_deadline(buffers); });
  found->second->outgoing->begin(response.status);
}

void Server::Running::restart_deadline(bufferevent* buffers) {
  const timeval limit = time_of(limits_.request);
  if (const auto found = connections_.find(buffers); found != connections_.end())
    event_add(found->second->deadline.get(), &limit);
}

Server::Server(std::unique_ptr<Running> running) : running_(std::move(running)) {}
Server::Server(Server&&) noexcept = default;
Server::~Server() = default;

Server Server::on_socket(const std::filesystem::path& path, Handler handler, const Limits& limits) {
  return Server(std::make_unique<Running>(ListeningSocket::at_path(path), std::move(handler),
                                          std::nullopt, limits));
}

Server Server::on_loopback(std::string_view address, Handler handler, Access access,
                           const Limits& limits) {
  ListeningSocket socket = ListeningSocket::at_address(address, access.beyond_loopback);
  return Server(
      std::make_unique<Running>(std::move(socket), std::move(handler), std::move(access), limits));
}

uint16_t Server::port() const { return running_->port(); }

}  // namespace streamscope::serve
