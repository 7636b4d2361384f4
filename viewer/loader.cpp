// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "loader.h"

#include <exception>

#include "sketch.h"

namespace streamscope::viewer {

Loader::Loader(std::filesystem::path file, int width_px, std::function<void()> on_change)
    : on_change_(std::move(on_change)), worker_([this, file = std::move(file), width_px] {
        try {
          load(file, width_px);
        } catch (const std::exception& error) {
          const std::lock_guard lock(mutex_);
          error_ = error.what();
        }
        progress_ = 1;
        on_change_();
      }) {}

Loader::~Loader() {
  cancelled_ = true;
  wait();
}

void Loader::load(const std::filesystem::path& file, int width_px) {
  if (std::optional<trace::Trace> sketch = read_sketch(file, width_px))
    publish(std::make_shared<const Document>(std::move(*sketch), true));
  trace::ReadOptions options;
  options.progress = [this](double fraction) {
    if (fraction - progress_ >= 0.01) {
      progress_ = fraction;
      on_change_();
    }
    return !cancelled_;
  };
  publish(std::make_shared<const Document>(trace::read(file, options)));
}

void Loader::publish(std::shared_ptr<const Document> document) {
  {
    const std::lock_guard lock(mutex_);
    document_ = std::move(document);
  }
  on_change_();
}

std::shared_ptr<const Document> Loader::document() const {
  const std::lock_guard lock(mutex_);
  return document_;
}

std::string Loader::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Loader::wait() {
  if (worker_.joinable()) worker_.join();
}

}  // namespace streamscope::viewer
