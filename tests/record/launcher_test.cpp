// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "record/run/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "ring/process.h"
#include "support/descriptor_limit.h"
#include "support/kill_points.h"
#include "support/sanitized.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "trace/read/reader.h"

namespace streamscope::record {
namespace {

namespace fs = std::filesystem;
using trace::Trace;

const char* const kProgram = RECORDED_PROGRAM;

class Recording : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "streamscope-launch-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    options_.output = directory_ / "t.sqlite";
    options_.quiet = true;
    options_.tier = Tier::kStructure;
  }
  void TearDown() override { fs::remove_all(directory_); }

  Outcome record(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kProgram);
    return run(options_, arguments);
  }
  Trace trace() const { return trace::read(options_.output); }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_))
      names.insert(entry.path().filename().string());
    return names;
  }
  static std::map<std::string, int64_t> losses(const Trace& trace) {
    std::map<std::string, int64_t> result;
    for (size_t i = 0; i < trace.loss.size(); ++i)
      result[std::string(trace.text(trace.loss.name_id[i]))] += trace.loss.count[i];
    return result;
  }

  /// Runs `action` in a child of this process, with standard output into a pipe that `output` gets.
  template <class Action>
  pid_t in_child(Action action, int* output) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      setpgid(0, 0);
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      _exit(action());
    }
    close(ends[1]);
    *output = ends[0];
    return pid;
  }

  /// Leaves the rings of a program that has ended, like a recorder that is killed.
  void record_and_die() {
    int output = -1;
    const pid_t writer = in_child(
        [&] {
          Session session(options_.output, options_);
          const pid_t program = fork();
          if (program == 0) {
            setenv(ring::kRingsVariable, session.rings().c_str(), 1);
            execl(kProgram, kProgram, "calls", "100", "1", "0", nullptr);
          }
          waitpid(program, nullptr, 0);
          return 0;  // as if killed: the session is not finished
        },
        &output);
    waitpid(writer, nullptr, 0);
    close(output);
  }

  fs::path directory_;
  Options options_;
};

TEST_F(Recording, CountsExactlyWhatTheProgramDid) {
  const Outcome outcome = record({"calls", "2000", "4", "0"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.trace_written);
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.dropped, 0u);
  const Trace trace = this->trace();
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(trace.process.size(), 1u);
  EXPECT_EQ(trace.process.exit_code[0], 0);
  EXPECT_EQ(trace.thread.size(), 4u);
  EXPECT_EQ(trace.api_call.size(), 4 * 2001u);
  EXPECT_EQ(trace.op.size(), 8000u);
  EXPECT_EQ(trace.event_record.size(), 8000u);
  EXPECT_EQ(trace.event_wait.size(), 8000u);
  for (size_t i = 0; i < trace.event_wait.size(); ++i) {
    ASSERT_EQ(trace.event_wait.binding[i], trace::kBindingExact);
    const trace::Id record = trace.event_wait.record_id[i];
    ASSERT_EQ(trace.event_record.call_number[record] + 1, trace.event_wait.call_number[i]);
    ASSERT_EQ(trace.event_record.thread_id[record], trace.event_wait.thread_id[i]);
  }
  EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
  EXPECT_EQ(fs::status(options_.output).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Recording, PutsAllProcessesOfARunIntoOneTrace) {
  const Outcome outcome = record({"spawn", "3", "500"});
  EXPECT_TRUE(outcome.complete);
  const Trace trace = this->trace();
  EXPECT_EQ(trace.process.size(), 3u);
  EXPECT_EQ(trace.event_wait.size(), 1500u);
  EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
}

TEST_F(Recording, WaitsForProcessesThatOutliveTheProgram) {
  const Outcome outcome = record({"leave-behind"});
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(trace().event_wait.size(), 10u);
}

TEST_F(Recording, PassesTheExitCodeOn) {
  EXPECT_EQ(record({"calls", "1", "1", "42"}).exit_code, 42);
  EXPECT_EQ(trace().process.exit_code[0], 42);
  fs::remove(options_.output);
  EXPECT_EQ(record({"killed", "1"}).exit_code, 128 + SIGKILL);
}

TEST_F(Recording, LeavesNothingOfAProgramWithoutCuda) {
  const Outcome outcome = record({"exit", "3"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(outcome.trace_written);
  EXPECT_TRUE(files().empty());
}

TEST_F(Recording, KeepsEverythingOfAKilledProgram) {
  const Outcome outcome = record({"killed", "1000"});
  EXPECT_TRUE(outcome.trace_written);
  EXPECT_FALSE(outcome.complete);
  const Trace trace = this->trace();
  EXPECT_FALSE(trace.complete());
  EXPECT_EQ(trace.event_wait.size(), 1000u);
  EXPECT_EQ(trace.process.exit_signal[0], SIGKILL);
  EXPECT_EQ(trace.process.complete[0], 0);
  ASSERT_EQ(trace.host_sync.size(), 1u);
  EXPECT_EQ(trace.host_sync.end_ns[0], trace::kUnknownNs);
  EXPECT_EQ(losses(trace)["process-ended-abruptly"], 1);
  EXPECT_EQ(losses(trace)["call-not-finished"], 1);
  EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
}

TEST_F(Recording, RefusesAnExistingFileBeforeAnythingRuns) {
  std::ofstream(options_.output) << "precious";
  try {
    record({"calls", "1", "1", "0"});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), options_.output.string());
    EXPECT_EQ(error.cause(), "exists already");
  }
  EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
  std::string text;
  std::getline(std::ifstream(options_.output), text);
  EXPECT_EQ(text, "precious");
  options_.force = true;
  EXPECT_TRUE(record({"calls", "1", "1", "0"}).trace_written);
  EXPECT_EQ(trace().event_wait.size(), 1u);
}

TEST_F(Recording, ReportsAMissingProgram) {
  try {
    run(options_, {"no-such-program-here"});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.subject(), "no-such-program-here");
    EXPECT_EQ(error.code(), ENOENT);
  }
  EXPECT_TRUE(files().empty());
  options_.output = directory_ / "absent" / "t.sqlite";
  EXPECT_THROW(record({"exit", "0"}), Error);
  options_.output = directory_ / "t.sqlite";
  options_.inject_library = directory_ / "absent.so";
  EXPECT_THROW(record({"exit", "0"}), Error);
}

TEST_F(Recording, NamesTheTraceAfterTheProgram) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  options_.output.clear();
  const Outcome outcome = record({"calls", "1", "1", "0"});
  fs::current_path(before);
  EXPECT_EQ(outcome.trace.parent_path(), directory_);
  const Trace trace = trace::read(outcome.trace);
  EXPECT_EQ(outcome.trace.filename(), default_output(kProgram, trace.process.os_pid[0]));
}

TEST_F(Recording, PreloadsItsLibraryBeforeTheUsersOwn) {
  const fs::path library = directory_ / "with blank" / "lib.so";
  fs::create_directory(library.parent_path());
  std::ofstream(library) << "";
  options_.inject_library = library;
  setenv("LD_PRELOAD", "", 1);
  const Outcome outcome =
      run(options_, {"/bin/sh", "-c",
                     "case \"$LD_PRELOAD\" in /tmp/streamscope-*/lib.so) exit 0;; esac; exit 1"});
  EXPECT_EQ(outcome.exit_code, 0);
  options_.inject_library = kProgram;  // any file will do
  setenv("LD_PRELOAD", "theirs.so", 1);
  const std::string expected = std::string(kProgram) + ":theirs.so";
  EXPECT_EQ(run(options_, {"/bin/sh", "-c", "test \"$LD_PRELOAD\" = '" + expected + "'"}).exit_code,
            0);
  unsetenv("LD_PRELOAD");
}

// Else a program with the address sanitizer would refuse to start.
TEST_F(Recording, LetsTheAddressSanitizersRuntimeComeAfterItsLibrary) {
  const char* before = std::getenv("ASAN_OPTIONS");
  const std::string restored = before != nullptr ? before : "";
  options_.inject_library = kProgram;  // any file will do
  setenv("LD_PRELOAD", "", 1);
  setenv("ASAN_OPTIONS", "halt_on_error=0", 1);
  EXPECT_EQ(run(options_, {"/bin/sh", "-c",
                           "test \"$ASAN_OPTIONS\" = verify_asan_link_order=0:halt_on_error=0"})
                .exit_code,
            0);
  if (before != nullptr) {
    setenv("ASAN_OPTIONS", restored.c_str(), 1);
  } else {
    unsetenv("ASAN_OPTIONS");
  }
  unsetenv("LD_PRELOAD");
}

TEST_F(Recording, PassesSignalsOn) {
  int output = -1;
  const pid_t launcher = in_child([&] { return record({"signal"}).exit_code; }, &output);
  char byte;
  ASSERT_EQ(read(output, &byte, 1), 1);
  kill(launcher, SIGTERM);
  int status = 0;
  ASSERT_EQ(waitpid(launcher, &status, 0), launcher);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  close(output);
}

TEST_F(Recording, SwitchesCollectorsByDelayAndDuration) {
  // What collectors receive before the first step, and at the end.
  const auto reported = [&] {
    Session session(options_.output, options_);
    const fs::path control = session.rings() / ring::kControlFile;
    const auto look = [&] {
      std::ifstream stream(control, std::ios::binary);
      stream.seekg(offsetof(ring::Control, collecting));
      return stream.get();
    };
    const int first = look();
    int last = first;
    for (int i = 0; i < 10'000 && last == first; ++i) {
      usleep(1000);
      session.step();
      last = look();
    }
    Outcome outcome;
    session.finish(&outcome);
    return std::pair(first, last);
  };
  options_.delay_s = 0.02;
  EXPECT_EQ(reported(), std::pair(0, 1));
  options_.duration_s = 1000;
  EXPECT_EQ(reported(), std::pair(0, 1));
  options_.delay_s.reset();
  options_.duration_s = 0.02;
  EXPECT_EQ(reported(), std::pair(1, 0));
  EXPECT_TRUE(files().empty());
}

TEST_F(Recording, KnowsHowLongAKilledProgramHung) {
  record({"killed", "10", "400"});
  const Trace trace = this->trace();
  ASSERT_EQ(trace.process.size(), 1u);
  const trace::Ns hung_ns = trace.process.end_ns[0] - trace.host_sync.start_ns[0];
  EXPECT_GT(hung_ns, 300'000'000);
  EXPECT_GE(std::stoll(trace.meta.at("duration_ns")), trace.process.end_ns[0]);
}

TEST_F(Recording, IsRecoveredAfterRecorderAndProgramWereKilled) {
  for (int round = 0; round < 4; ++round) {
    int output = -1;
    const pid_t launcher = in_child([&] { return record({"forever"}).exit_code; }, &output);
    uint32_t reported = 0;
    while (reported < 4000u + 9000u * round)
      ASSERT_EQ(read(output, &reported, sizeof reported), sizeof reported);
    if (round == 3) {
      EXPECT_FALSE(recover(options_.output)) << "its recorder lives";
      EXPECT_THROW(record({"exit", "0"}), Error) << "the name is taken";
    }
    kill(launcher, SIGKILL);
    waitpid(launcher, nullptr, 0);
    // Until it has made some more calls, or its ring is full: it then waits for space.
    pollfd more_to_read{.fd = output, .events = POLLIN, .revents = 0};
    for (uint32_t more = 0;
         reported <= 6000u + 9000u * round && poll(&more_to_read, 1, 500) == 1;) {
      if (read(output, &more, sizeof more) != sizeof more) break;
      reported = more;
    }
    // The target is in the process group of the launcher.
    kill(-launcher, SIGKILL);
    for (uint32_t more = 0; read(output, &more, sizeof more) == sizeof more;) reported = more;
    close(output);

    for (const int files : {0, 1, 2}) {  // not enough to read what the recorder has stored
      const DescriptorLimit few(files);
      EXPECT_THROW(recover(options_.output), Error);
    }
    EXPECT_TRUE(recover(options_.output));
    EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
    const Trace trace = this->trace();
    EXPECT_FALSE(trace.complete());
    EXPECT_EQ(trace.meta.at("finished"), "1");
    EXPECT_FALSE(trace.meta.contains("ring_positions"));
    EXPECT_EQ(losses(trace)["writer-ended-abruptly"], 1);
    EXPECT_FALSE(trace::is_unfinished(trace)) << "the program was killed too: this is all of it";
    EXPECT_EQ(trace.process.size(), 1u);
    EXPECT_EQ(trace.thread.size(), 1u);
    EXPECT_EQ(trace.stream.size(), 1u);
    ASSERT_GE(trace.api_call.size(), reported);
    EXPECT_EQ(trace.op.size(), trace.api_call.size());
    for (size_t i = 0; i < trace.api_call.size(); ++i)
      ASSERT_EQ(trace.api_call.call_number[i], static_cast<int64_t>(i + 1))
          << "nothing twice, nothing left out";
    EXPECT_TRUE(std::is_sorted(trace.api_call.start_ns.begin(), trace.api_call.start_ns.end()));
    EXPECT_FALSE(recover(options_.output)) << "nothing is left to do";
    fs::remove(options_.output);
  }
}

TEST_F(Recording, IsRecoveredIfItsTraceWasBeingCreated) {
  for (const bool begun : {false, true}) {
    record_and_die();
    if (begun) std::ofstream(options_.output) << "";
    EXPECT_TRUE(recover(options_.output));
    const Trace trace = this->trace();
    EXPECT_EQ(trace.event_wait.size(), 100u);
    EXPECT_TRUE(
        std::is_sorted(trace.event_record.start_ns.begin(), trace.event_record.start_ns.end()));
    EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
    fs::remove(options_.output);
  }
}

TEST_F(Recording, IsKeptWhileItsRecoveryCannotSearchForRings) {
  record_and_die();
  {
    const DescriptorLimit one(1);  // which takes the control file
    EXPECT_THROW(recover(options_.output), Error);
  }
  EXPECT_TRUE(recover(options_.output));
  EXPECT_EQ(trace().event_wait.size(), 100u);
}

TEST_F(Recording, IsFinishedByItsDetachedWriter) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  int output = -1;
  const fs::path finished = directory_ / "finished";
  // The program waits for the folder and then execs, as one that starts its own writer would
  // continue.
  const pid_t target = fork();
  if (target == 0) {
    std::string folder;
    for (char byte; read(ready[0], &byte, 1) == 1 && byte != '\0';) folder += byte;
    setenv(ring::kRingsVariable, folder.c_str(), 1);
    execl(kProgram, kProgram, "killed", "300", nullptr);
    _exit(1);
  }
  const pid_t writer = in_child(
      [&] {
        return run_detached(options_, target, ready[1], [&](const Outcome& outcome) {
          std::ofstream(finished) << outcome.records;
        });
      },
      &output);
  close(ready[0]);
  close(ready[1]);
  int status = 0;
  ASSERT_EQ(waitpid(target, &status, 0), target);
  EXPECT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(output);
  EXPECT_EQ(trace().event_wait.size(), 300u);
  EXPECT_TRUE(fs::exists(finished));
  fs::remove(finished);
  EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
}

// At 58,000 kernels a second the writer fell further and further behind.
TEST_F(Recording, LosesNothingAtAHundredThousandLaunchesASecond) {
  constexpr unsigned kLaunches = test::sample_of(200'000), kPerSecond = test::sample_of(100'000);
  options_.tier = Tier::kTimes;
  const Outcome outcome =
      record({"load", "2", std::to_string(kLaunches), std::to_string(kPerSecond)});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.complete);
  EXPECT_EQ(outcome.dropped, 0u);
  const Trace trace = this->trace();
  EXPECT_EQ(trace.api_call.size(), 2 * kLaunches);
  EXPECT_EQ(trace.op.size(), 2 * kLaunches);
  EXPECT_THAT(losses(trace), testing::IsEmpty());
  EXPECT_EQ(files(), std::set<std::string>{"t.sqlite"});
}

// Nobody uses the name of such a recording again if it contains the process id.
TEST_F(Recording, RemovesFilesOfRecordersKilledBeforeTheyRecorded) {
  const auto killed = [&](const char* name) {
    int output = -1;
    const pid_t writer = in_child(
        [&] {
          Session session(directory_ / name, options_);
          return 0;  // as if killed: the session is not finished
        },
        &output);
    waitpid(writer, nullptr, 0);
    close(output);
    return std::string(name) + ".rings";
  };
  const std::string same = killed("t.sqlite");
  EXPECT_EQ(files(), std::set<std::string>{same});
  EXPECT_FALSE(recover(options_.output));
  EXPECT_EQ(files(), std::set<std::string>{}) << "by the next command that is given the trace";

  const std::string other = killed("app-1.sqlite");
  EXPECT_EQ(files(), std::set<std::string>{other});
  EXPECT_FALSE(record({"exit", "0"}).trace_written);
  EXPECT_EQ(files(), std::set<std::string>{}) << "by the next recording beside it";
}

TEST_F(Recording, LeavesTheFolderOfALiveRecorderAlone) {
  const fs::path trace = directory_ / "app-2.sqlite";
  const Session living(trace, options_);
  record({"exit", "0"});
  EXPECT_EQ(files(), std::set<std::string>{"app-2.sqlite.rings"});
}

TEST_F(Recording, RemovesAPartlyCreatedFolder) {
  const fs::path folder = rings_path(options_.output);
  for (const bool with_control : {false, true}) {
    fs::create_directory(folder);
    if (with_control) std::ofstream(folder / ring::kControlFile) << std::string(100, '\0');
    EXPECT_FALSE(recover(options_.output));
    EXPECT_TRUE(fs::exists(folder)) << "it may be in the making";
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
    EXPECT_EQ(record({"exit", "0"}).exit_code, 0);
    EXPECT_FALSE(fs::exists(folder));
  }
}

#if defined(__x86_64__)

TEST_F(Recording, RemovesAPartlyRemovedFolderAtOnce) {
  long kills = 0;
  for (long n = 1;; ++n) {
    int made[2];
    ASSERT_EQ(pipe(made), 0);
    const int status = kill_points::run(n, [&] {
      Session session(options_.output, options_);
      if (::write(made[1], "", 1) != 1) _exit(1);
      Outcome outcome;
      session.finish(&outcome);
    });
    close(made[1]);
    char said = 0;
    const bool was_made = ::read(made[0], &said, 1) == 1;
    close(made[0]);
    if (!WIFSIGNALED(status)) break;
    if (was_made) {
      EXPECT_FALSE(recover(options_.output));
      EXPECT_EQ(files(), std::set<std::string>{}) << "killed at " << n;
      ++kills;
    }
    fs::remove_all(rings_path(options_.output));
  }
  EXPECT_GE(kills, 4);  // before the mark, the control file, the folder and at the end
}

#endif

TEST_F(Recording, LeavesAForeignFolderAlone) {
  fs::create_directory(rings_path(options_.output));
  std::ofstream(rings_path(options_.output) / "mine") << "x";
  EXPECT_FALSE(recover(options_.output));
  EXPECT_THROW(record({"exit", "0"}), Error);
  EXPECT_TRUE(fs::exists(rings_path(options_.output) / "mine"));
}

}  // namespace
}  // namespace streamscope::record
