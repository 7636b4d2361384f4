// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>

#include "files.h"
#include "raised_limits.h"
#include "rank_traces.h"
#include "ring/process.h"
#include "trace/error.h"
#include "trace/folder_names.h"
#include "writers.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/// Takes signals by waiting for them instead of by handlers; restores everything at its end.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    for (int signal : kPassedOn) ::sigaddset(&set_, signal);
    ::sigaddset(&set_, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    for (Handled& each : handled_) {
      struct sigaction wanted {};
      wanted.sa_handler = each.handler;
      wanted.sa_flags = SA_NOCLDSTOP;  // a sampled thread stops many times a second
      ::sigaction(each.signal, &wanted, &each.before);
    }
  }
  ~Signals() { restore(); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The next signal, or nothing after `pause`.
  std::optional<siginfo_t> wait(std::chrono::microseconds pause) const {
    const timespec limit = {static_cast<time_t>(pause.count() / 1'000'000),
                            static_cast<long>(pause.count() % 1'000'000) * 1000};
    siginfo_t info;
    if (::sigtimedwait(&set_, &info, &limit) > 0) return info;
    return std::nullopt;
  }
  /// In the child: restores everything.
  void restore() const {
    for (const Handled& each : handled_) ::sigaction(each.signal, &each.before, nullptr);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  struct Handled {
    int signal;
    void (*handler)(int);
    struct sigaction before {};
  };
  sigset_t set_, before_;
  Handled handled_[3] = {
      {SIGCHLD, SIG_DFL},  // an ignored one would discard the exit code
      {SIGXFSZ, SIG_IGN},  // exceeding the file size limit is reported like a full disk
      {SIGPIPE, SIG_IGN},  // and so are a killed child and a closed terminal
  };
};

/// The library under a name that LD_PRELOAD can contain: it splits at spaces and colons and
/// supports no quoting.
class PreloadName {
 public:
  explicit PreloadName(const fs::path& library) : name_(library) {
    if (library.empty()) return;
    name_ = fs::absolute(library);
    if (!fs::exists(name_))
      throw Error(name_, "does not exist",
                  "install all of StreamScope, or name the library in STREAMSCOPE_INJECT", ENOENT);
    if (name_.string().find_first_of(" :") == std::string::npos) return;
    char folder[] = "/tmp/streamscope-XXXXXX";
    if (::mkdtemp(folder) == nullptr) throw Error("/tmp", std::strerror(errno), "", errno);
    folder_ = folder;
    fs::create_symlink(name_, folder_ / library.filename());
    name_ = folder_ / library.filename();
  }
  ~PreloadName() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  PreloadName(const PreloadName&) = delete;
  PreloadName& operator=(const PreloadName&) = delete;

  std::string string() const { return name_.string(); }

 private:
  fs::path name_;
  fs::path folder_;  // of the link, if one was needed
};

/// Process state that is restored for the program.
struct Surroundings {
  Signals signals;
  RaisedLimits limits;

  void restore() const {
    limits.restore();
    signals.restore();
  }
};

/// Becomes the program; returns only if that fails, with errno.
void execute(const Surroundings& surroundings, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  surroundings.restore();
  ::execvp(arguments[0], arguments.data());
}

Error not_started(const std::string& program) {
  return Error(program, std::string("cannot be started: ") + std::strerror(errno), "", errno);
}

/// A forked child that waits for permission to become the program.
class Child {
 public:
  using Variables = std::vector<std::pair<const char*, std::string>>;

  /// `variables` are set in the program's environment; those with an empty value are removed from
  /// it.
  Child(const Surroundings& surroundings, const std::vector<std::string>& command,
        const Variables& variables) {
    int go[2], result[2];
    if (::pipe2(go, O_CLOEXEC) != 0 || ::pipe2(result, O_CLOEXEC) != 0)
      throw not_started(command[0]);
    std::fflush(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) {
      // The program may run without a recorder.
      std::fprintf(stderr, "streamscope: not recording: no process can be started: %s\n",
                   std::strerror(errno));
      execute(surroundings, command);
      throw not_started(command[0]);
    }
    if (pid_ == 0) {
      ::close(go[1]);
      ::close(result[0]);
      become(surroundings, command, variables, go[0], result[1]);
    }
    ::close(go[0]);
    ::close(result[1]);
    go_ = go[1];
    result_ = result[0];
  }
  ~Child() {
    if (go_ >= 0) ::close(go_);  // ends a child that was not released
    if (result_ >= 0) ::close(result_);
    if (!reaped_) ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  /// Lets the child become the program; throws Error if it cannot.
  void go(const Session& session, const std::string& program) {
    const std::string paths = session.rings().string() + '\0' + session.trace().string() + '\0';
    if (!write_all(go_, paths.data(), paths.size())) throw not_started(program);
    ::close(std::exchange(go_, -1));
    int failure = 0;
    if (!read_all(result_, &failure, sizeof failure)) return;  // closed by exec
    if (failure == ENOENT)
      throw Error(program, "no such program", "check the name, or give its path", failure);
    throw Error(program, std::string("cannot be run: ") + std::strerror(failure),
                failure == EACCES ? "check its permissions" : "", failure);
  }

  /// The wait status, once the program has ended.
  std::optional<int> ended() {
    int status = 0;
    if (reaped_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    if (WIFSTOPPED(status)) return std::nullopt;  // while its stack is read
    reaped_ = true;
    return status;
  }

 private:
  [[noreturn]] static void become(const Surroundings& surroundings,
                                  const std::vector<std::string>& command,
                                  const Variables& variables, int go, int result) {
    const std::string rings = read_path(go, result), trace = read_path(go, result);
    set_variable(ring::kRingsVariable, rings, result);
    set_variable(ring::kWritersVariable, rings, result);
    set_variable("STREAMSCOPE_OUTPUT", trace, result);
    for (const auto& [name, value] : variables) set_variable(name, value, result);
    execute(surroundings, command);
    give_up(result, errno);
  }

  /// A program that lacked one would be recorded elsewhere or otherwise than we say.
  static void set_variable(const char* name, const std::string& value, int result) {
    if ((value.empty() ? ::unsetenv(name) : ::setenv(name, value.c_str(), 1)) != 0)
      give_up(result, errno);
  }

  [[noreturn]] static void give_up(int result, int failure) {
    (void)!::write(result, &failure, sizeof failure);
    ::_exit(127);
  }

  static std::string read_path(int from, int result) {
    std::string path;
    for (;;) {
      char byte = 0;
      const ssize_t got = ::read(from, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) give_up(result, errno);
      if (got == 0) ::_exit(127);  // the recorder gave up or was killed
      if (byte == '\0') return path;
      path += byte;
    }
  }

  pid_t pid_ = -1;
  int go_ = -1, result_ = -1;
  bool reaped_ = false;
};

constexpr rlim_t kLeastAddressSpace = 12 << 20;

/// Processes of other ranks than the program's own have writers and traces of their own.
void add_run(const Options& options, Child::Variables& variables) {
  if (options.run.empty()) {
    for (const char* name : {ring::kRunVariable, ring::kRankVariable, ring::kWritersVariable})
      variables.emplace_back(name, "");
    return;
  }
  const RankClaim claim = own_rank();
  variables.insert(variables.end(),
                   {{ring::kRunVariable, fs::absolute(options.run).string()},
                    {ring::kRankVariable, claim.is_known() ? std::to_string(claim.rank) : ""},
                    {kJobVariable, job_of(::getpid(), claim).name},
                    {"STREAMSCOPE_OUTPUT", ""}});
}

/// What the program inherits in addition to the location of the recording. A process that outlives
/// the recording and uses CUDA only then, such as a daemon, is recorded by a writer of its own,
/// with the same options.
Child::Variables variables_of(const Options& options, const std::string& preload) {
  std::string with;
  for (const auto& [bit, name] :
       {std::pair{ring::kWithArgs, "args"}, std::pair{ring::kWithAlloc, "alloc"},
        std::pair{ring::kWithEventTimes, "event-times"},
        std::pair{ring::kWithAccesses, "accesses"}}) {
    if ((options.with & bit) != 0) with += (with.empty() ? "" : ",") + std::string(name);
  }
  Child::Variables variables = {
      {"STREAMSCOPE_TIER", std::string(to_string(options.tier))},
      {"STREAMSCOPE_STACKS",
       std::string(ring::kStackModeNames[static_cast<size_t>(options.stacks)])},
      {"STREAMSCOPE_SOURCE",
       std::string(ring::kCallSourceNames[static_cast<size_t>(options.source)])},
      {"STREAMSCOPE_GRAPHS", options.graphs == ring::GraphDetail::kNodes ? "nodes" : "launch"},
      {"STREAMSCOPE_WITH", with},
      {"STREAMSCOPE_SAMPLES", std::to_string(options.sample_hz)},
      {"STREAMSCOPE_HANG_TIMEOUT", std::to_string(options.hangs.timeout_s.value_or(0))},
      {"STREAMSCOPE_ON_HANG", options.abort_on_hang ? "abort" : "report"},
      {"STREAMSCOPE_FLIGHT_RECORDER",
       options.flight_recorder_mib ? std::to_string(*options.flight_recorder_mib) : ""},
      {"STREAMSCOPE_START_LATER", options.on_demand ? "1" : ""},
      {"STREAMSCOPE_CONTROL_TOKEN", ""},  // for the recorder alone
      {"STREAMSCOPE_QUIET", options.quiet ? "1" : ""}};
  add_run(options, variables);
  if (!preload.empty()) {
    const char* theirs = std::getenv("LD_PRELOAD");
    variables.emplace_back("LD_PRELOAD",
                           theirs != nullptr && *theirs != '\0' ? preload + ":" + theirs : preload);
    // A program with the address sanitizer would refuse to start, as its runtime is not the first
    // library. It needs to be first only to replace functions that we do not have.
    const char* sanitizer = std::getenv("ASAN_OPTIONS");
    variables.emplace_back(
        "ASAN_OPTIONS",
        "verify_asan_link_order=0" + (sanitizer != nullptr ? std::string(":") + sanitizer : ""));
  }
  if (options.capture_range == ring::CaptureRange::kCudaProfilerApi) {
    variables.emplace_back("STREAMSCOPE_CAPTURE_RANGE", "cudaProfilerApi");
  } else if (options.capture_range == ring::CaptureRange::kNvtx) {
    variables.emplace_back("STREAMSCOPE_CAPTURE_RANGE", "nvtx:" + options.capture_range_name);
  }
  if (options.measure_cost) {
    variables.emplace_back("STREAMSCOPE_MEASURE_COST",
                           options.measure_cost_range.empty() ? "1" : options.measure_cost_range);
  }
  return variables;
}

constexpr int kEndedHang = 124;  // as timeout(1) reports it

/// Ends a program that hangs: first gracefully, then by force.
class Ending {
 public:
  void begin(std::vector<pid_t> processes) {
    pids_ = std::move(processes);
    until_ = std::chrono::steady_clock::now() + 1s;
    send(SIGTERM);
  }
  void step() {
    if (pids_.empty() || std::chrono::steady_clock::now() < until_) return;
    send(SIGKILL);
    pids_.clear();
  }

 private:
  void send(int signal) const {
    for (const pid_t pid : pids_) ::kill(pid, signal);
  }
  std::vector<pid_t> pids_;
  std::chrono::steady_clock::time_point until_{};
};

void report_what_is_left(const Outcome& outcome) {
  for (const Left& left : outcome.left)
    std::fprintf(stderr, "streamscope: %s\n", describe(left).c_str());
}

/// A signal for the program that reached only us. The terminal's signals reach the program too.
bool is_for_us_alone(const siginfo_t& info) {
  return info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
}

/// True if a process that was started in this recording still runs.
bool left_running(const fs::path& rings) {
  const std::string variable = std::string(ring::kRingsVariable) + "=" + rings.string();
  const fs::path processes = "/proc";
  for (const std::string& name :
       trace::try_names_in(processes).value_or(std::vector<std::string>())) {
    std::ifstream environment(processes / name / "environ");
    for (std::string text; std::getline(environment, text, '\0');) {
      if (text == variable) return true;
    }
  }
  return false;
}

Session open_session(const Options& options, const fs::path& program, pid_t pid) {
  if (!options.run.empty()) return open_rank_session(options, pid, ::getpid());
  return Session(options.output.empty() ? default_output(program, pid) : options.output, options);
}

/// Of the requested file, or of NAME-PID next to it if another process of the program has that
/// already or takes it at this moment.
Session own_session(const Options& options, pid_t pid) {
  const fs::path& wanted = options.output;
  std::error_code error;
  const bool is_taken = (!options.force && fs::exists(fs::symlink_status(wanted, error))) ||
                        fs::exists(fs::symlink_status(rings_path(wanted), error));
  try {
    if (!is_taken) return Session(wanted, options);
  } catch (const Error& failure) {
    if (failure.code() != EEXIST) throw;
  }
  return Session(
      fs::path(wanted).replace_filename(wanted.stem().string() + "-" + std::to_string(pid) +
                                        wanted.extension().string()),
      options);
}

}  // namespace

std::string describe(const Left& left) {
  return left.what.string() +
         ": cannot be removed; the trace contains all of its data, and the next `streamscope "
         "info " +
         left.trace.string() + "` removes it";
}

fs::path default_output(const fs::path& program, pid_t pid) {
  return program.filename().string() + "-" + std::to_string(pid) + ".sqlite";
}

Outcome run(const Options& options, const std::vector<std::string>& command) {
  if (command.empty())
    throw Error("record", "no program is given",
                "use streamscope record [OPTIONS] -- PROGRAM [ARG…]");
  const Surroundings surroundings;
  // The library is loaded first: a program with very little address space would not find its own.
  const bool fits = surroundings.limits.address_space() >= kLeastAddressSpace;
  if (!fits)
    std::fprintf(stderr,
                 "streamscope: not recording: the program is limited to less than 12 MiB of "
                 "address space; allow more (ulimit -v)\n");
  const PreloadName library(fits ? options.inject_library : fs::path());
  const PreloadName calls(fits ? options.calls_library : fs::path());
  const std::string preload =
      options.calls_library.empty() ? library.string() : calls.string() + ":" + library.string();
  const Signals& signals = surroundings.signals;
  Child child(surroundings, command, variables_of(options, preload));
  Session session = open_session(options, command[0], child.pid());
  Outcome outcome;
  std::optional<Writers> writers;
  try {
    writers.emplace(session.rings());
    outcome.trace = session.trace();
    child.go(session, command[0]);
  } catch (...) {
    session.finish(&outcome);
    throw;
  }

  Ending ending;
  bool child_ended = false, reported = false, stop = false;
  int interrupts = 0;
  auto ended_at = std::chrono::steady_clock::now();
  while (!stop && (!child_ended || !session.all_finished() || writers->any_alive())) {
    const auto pause = session.step();
    if (const auto status = child_ended ? std::nullopt : child.ended()) {
      child_ended = true;
      ended_at = std::chrono::steady_clock::now();
      outcome.exit_code = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
      session.step();  // the rings of a program that ended before the first read
      session.set_exit(static_cast<uint32_t>(child.pid()), *status);
      continue;
    }
    if (child_ended && !reported && std::chrono::steady_clock::now() - ended_at > 1s) {
      reported = true;
      if (!options.quiet)
        std::fprintf(stderr,
                     "streamscope: waiting for the other processes of the program; Ctrl-C ends the "
                     "recording\n");
    }
    if (const auto hung = session.take_hung()) {
      ending.begin({static_cast<pid_t>(*hung), child.pid()});
      outcome.ended_hang = true;
    }
    ending.step();
    const auto signal = signals.wait(pause);
    if (!signal || signal->si_signo == SIGCHLD) continue;
    if (signal->si_signo == SIGUSR2 && is_for_us_alone(*signal) && session.request_dump()) continue;
    if (signal->si_signo == SIGINT) ++interrupts;
    if (!child_ended) {
      if (is_for_us_alone(*signal)) ::kill(child.pid(), signal->si_signo);
    } else {
      stop = signal->si_signo != SIGINT || interrupts > 1 || reported;
    }
  }
  if (outcome.ended_hang) outcome.exit_code = kEndedHang;
  if (stop) writers->end();
  outcome.ranks = writers->count();
  try {
    session.finish(&outcome);
    if (!outcome.trace_written && outcome.ranks == 0)
      outcome.left_running = left_running(session.rings());
  } catch (const std::exception& error) {
    outcome.failure = session.failure_of(error);
  }
  report_what_is_left(outcome);
  return outcome;
}

int run_detached(const Options& options, pid_t target, int ready_fd,
                 const std::function<void(const Outcome&)>& finished) {
  // The library has already detached us from the program; this is for a manual start.
  ::setsid();
  for (int file : {STDIN_FILENO, STDOUT_FILENO}) {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
      ::dup2(null, file);
      ::close(null);
    }
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (int signal : {SIGINT, SIGHUP, SIGQUIT, SIGPIPE}) ::sigaction(signal, &ignore, nullptr);
  const Signals signals;  // SIGTERM ends the recording gracefully
  const RaisedLimits limits;

  const auto pid = static_cast<uint32_t>(target);
  const uint64_t start = ring::process_start(pid);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/" + std::to_string(target) + "/exe", ignored);
  Session session = !options.run.empty() ? open_rank_session(options, target, target)
                    : options.output.empty()
                        ? open_session(options, program.empty() ? "program" : program, target)
                        : own_session(options, target);
  announce_writer();
  Outcome outcome;
  Ending ending;
  bool stop = false;
  try {
    outcome.trace = session.trace();
    const std::string folder = session.rings().string() + '\0';
    const auto bytes = static_cast<ssize_t>(folder.size());
    stop = ::write(ready_fd, folder.data(), folder.size()) != bytes;
  } catch (...) {
    session.finish(&outcome);
    throw;
  }
  ::close(ready_fd);

  while (!stop) {
    const bool target_lives = ring::process_alive(pid, start);
    const auto pause = session.step();
    if (!target_lives && session.all_finished()) break;
    if (const auto hung = session.take_hung()) ending.begin({static_cast<pid_t>(*hung)});
    ending.step();
    const auto signal = signals.wait(pause);
    if (signal && signal->si_signo == SIGUSR2) session.request_dump();
    stop = signal && signal->si_signo == SIGTERM;
  }
  try {
    session.finish(&outcome, finished);
  } catch (const std::exception& error) {
    outcome.failure = session.failure_of(error);
    finished(outcome);
  }
  report_what_is_left(outcome);
  return outcome.failure ? 1 : 0;
}

}  // namespace streamscope::record
