// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Loads a trace on a thread of its own, so that the window answers meanwhile: first a sketch of a
// large one, then all of it.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "document.h"

namespace streamscope::viewer {

/// Told how far it is, in [0, 1]; false to give up.
using Progress = std::function<bool(double)>;

/// Reads a trace into a document. Of one with more ops than `derive_up_to` the derived tables stand
/// for the analyses, if it has them. Throws Error as trace::read().
std::shared_ptr<const Document> read_document(const std::filesystem::path& file,
                                              const Progress& progress = {},
                                              size_t derive_up_to = kDeriveUpTo);

/// Whether a trace file has a log beside it, as while it is being written.
bool has_log(const std::filesystem::path& file);

/// UI thread only, except `on_change`, which is called from the worker.
class Loader {
 public:
  Loader(std::filesystem::path file, int width_px, std::function<void()> on_change);
  ~Loader();

  double progress() const { return progress_; }
  /// What there is by now: nothing, a sketch, the document.
  std::shared_ptr<const Document> document() const;
  /// Why there is none, as the reader says it; empty while loading or if all is well.
  std::string error() const;
  void wait();

 private:
  void load(const std::filesystem::path& file, int width_px);
  void publish(std::shared_ptr<const Document> document);

  std::atomic<double> progress_ = 0;
  std::atomic<bool> cancelled_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const Document> document_;
  std::string error_;
  std::function<void()> on_change_;
  std::thread worker_;
};

}  // namespace streamscope::viewer
