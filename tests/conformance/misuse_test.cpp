// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Wrong use is an error with a kind and a text, never a crash and never silence.

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "conformance/backends.h"

namespace conformance {
namespace {

class Misuse : public OnDevice {
 protected:
  static void expect_error(coord::ErrorKind kind, const std::function<void()>& function) {
    try {
      function();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const coord::Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_NE(error.code(), 0);
      EXPECT_FALSE(error.code_name().empty());
      EXPECT_FALSE(error.call().empty());
    }
  }
};
CONFORMANCE_SUITE(Misuse);

TEST_P(Misuse, NullStreamAndEvent) {
  const coord::Stream stream = this->stream();
  expect_error(coord::ErrorKind::kInvalidHandle, [] { coord::StreamRef().synchronize(); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { stream.record(coord::EventRef()); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { stream.wait(coord::EventRef()); });
  expect_error(coord::ErrorKind::kInvalidHandle, [] { (void)coord::EventRef().query(); });
}

TEST_P(Misuse, DestroyedStreamAndEvent) {
  coord::StreamRef gone_stream;
  coord::EventRef gone_event;
  {
    const coord::Stream stream = this->stream();
    const coord::Event event = this->event();
    gone_stream = stream;
    gone_event = event;
  }
  const coord::Stream successor = stream();  // may have got the handle
  const coord::Event event = this->event();
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { gone_stream.synchronize(); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { gone_stream.record(event); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { successor.record(gone_event); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { successor.wait(gone_event); });
}

TEST_P(Misuse, MovedFromStreamIsNull) {
  coord::Stream stream = this->stream();
  const coord::Stream moved = std::move(stream);
  expect_error(coord::ErrorKind::kInvalidHandle,
               [&] { stream.synchronize(); });  // NOLINT(bugprone-use-after-move)
  moved.synchronize();
}

TEST_P(Misuse, EventOfAnotherDevice) {
  const coord::Device other = coord::Device::open("sim");
  const coord::Event foreign = other.create_event();
  const coord::Stream stream = this->stream();
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { stream.record(foreign); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { stream.wait(foreign); });
}

TEST_P(Misuse, ElapsedTimeNeedsTimingAndRecords) {
  const coord::Event plain = event();
  const coord::Event timing = device().create_event({.event_class = coord::EventClass::kTiming});
  const coord::Event other = device().create_event({.event_class = coord::EventClass::kTiming});
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { (void)timing.elapsed_since(plain); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { (void)timing.elapsed_since(other); });
}

TEST_P(Misuse, EmptyFunctionAndGrid) {
  const coord::Stream stream = this->stream();
  expect_error(coord::ErrorKind::kInvalidArgument, [&] { stream.host_function({}); });
  expect_error(coord::ErrorKind::kInvalidArgument, [&] { stream.launch({.blocks = 0}); });
  expect_error(coord::ErrorKind::kInvalidArgument,
               [&] { stream.launch({.duration = coord::Nanoseconds(-1)}); });
  expect_error(coord::ErrorKind::kInvalidArgument, [&] {
    stream.launch({.transform = {nullptr, nullptr, 4}});
  });
}

TEST_P(Misuse, CopyThatDoesNotFit) {
  const coord::Stream stream = this->stream();
  const coord::DeviceBuffer<float> small = device().allocate<float>(4);
  std::vector<float> large(5);
  expect_error(coord::ErrorKind::kInvalidArgument, [&] { stream.copy_to_device(small, large); });
  expect_error(coord::ErrorKind::kInvalidArgument, [&] { stream.copy_to_host(large, small); });
}

TEST_P(Misuse, AllocationOfNothing) {
  expect_error(coord::ErrorKind::kInvalidArgument, [&] { (void)device().allocate<float>(0); });
}

TEST_P(Misuse, AllocationOfTooMuch) {
  expect_error(coord::ErrorKind::kOutOfMemory,
               [&] { (void)device().allocate<float>(std::size_t{1} << 46); });
}

TEST_P(Misuse, OperationOfAnotherCoordinator) {
  coord::Coordinator mine(device()), other(device());
  const coord::Stream stream = this->stream();
  const auto foreign = other.submit({.stream = stream}, [](coord::StreamRef) {});
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { mine.wait(foreign); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] {
    mine.submit({.stream = stream, .after = {foreign}}, [](coord::StreamRef) {});
  });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { mine.wait(coord::OperationHandle()); });
  expect_error(coord::ErrorKind::kInvalidHandle, [&] { mine.submit({}, [](coord::StreamRef) {}); });
}

TEST(OpeningADevice, RefusesUnknownNames) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "auto:0"}) {
    try {
      (void)coord::Device::open(name);
      ADD_FAILURE() << name << " was opened";
    } catch (const coord::Error& error) {
      EXPECT_EQ(error.kind(), coord::ErrorKind::kInvalidArgument) << error.what();
    }
  }
}

// A driver does not survive fork(): the child gets an error, and can destroy what it inherited.
TEST_P(Misuse, InAForkedChildIsRefusedIfTheDriverDoesNotWork) {
  const coord::Stream stream = this->stream();
  stream.synchronize();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int code = 1;
    try {
      { const coord::Stream mine = device().create_stream(); }
      code = device().simulated() ? 0 : 2;
    } catch (const coord::Error& error) {
      code = error.kind() == coord::ErrorKind::kNotPermitted && !device().simulated() ? 0 : 3;
    }
    _exit(code);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  stream.synchronize();  // the parent continues
}

TEST(OpeningADevice, RefusesNoContext) {
  EXPECT_THROW((void)coord::Device::of_context(nullptr), coord::Error);
}

TEST(OpeningADevice, ReportsWhyThereIsNone) {
  try {
    (void)coord::Device::open("sim:1");
    ADD_FAILURE();
  } catch (const coord::Error& error) {
    EXPECT_EQ(error.kind(), coord::ErrorKind::kNoDevice);
    EXPECT_NE(std::string(error.what()).find("numbered from 0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace conformance
