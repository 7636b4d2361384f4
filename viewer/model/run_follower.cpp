// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "run_follower.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "loader.h"
#include "trace/error.h"

namespace streamscope::viewer {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLeastPause{500};
constexpr int kPauses = 9;  // pause this many times as long as the last reading took

}  // namespace

RunFollower::RunFollower(const JobModel& read, std::function<void()> on_change)
    : folder_(read.folder()),
      on_change_(std::move(on_change)),
      worker_([this, known = read.progress()] {
        follow(known);
        is_done_ = true;
        on_change_();
      }) {}

RunFollower::~RunFollower() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  wake_.notify_all();
  worker_.join();
}

std::shared_ptr<const JobModel> RunFollower::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(model_, nullptr);
}

std::string RunFollower::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

bool RunFollower::sleep(std::chrono::nanoseconds pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return cancelled_.load(); });
}

void RunFollower::publish(std::shared_ptr<const JobModel> model, std::string error) {
  {
    const std::lock_guard lock(mutex_);
    if (model) model_ = std::move(model);
    error_ = std::move(error);
  }
  on_change_();
}

void RunFollower::follow(RunProgress known) {
  std::chrono::nanoseconds pause = kLeastPause;
  while (known.is_running && sleep(pause)) {
    const steady_clock::time_point begin = steady_clock::now();
    const FolderState files = state_of_folder(folder_);
    const bool has_ended = !known.is_recorded && quiet_for(files) > kQuietRun;
    if (files != known.files || has_ended) {
      try {
        auto model = read_job(folder_, [this](double) { return !cancelled_; });
        known = model->progress();
        publish(std::move(model), "");
      } catch (const std::exception& error) {
        std::error_code absent;
        if (cancelled_) return;
        publish(nullptr, explain(error));
        if (!std::filesystem::is_directory(folder_, absent)) return;
        known.files.clear();  // is read again, as a file may be half written
      }
    }
    pause =
        std::max<std::chrono::nanoseconds>(kLeastPause, kPauses * (steady_clock::now() - begin));
  }
}

}  // namespace streamscope::viewer
