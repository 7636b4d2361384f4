// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a run would have gone with some findings repaired: the work of every stream at its predicted
// time, drawn below the recorded one, and how long all of it would take. Replayed by
// profiler/analysis on a thread of its own, so that the window answers meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "document.h"

namespace streamscope::viewer {

struct Prediction {
  std::vector<size_t> repaired;   ///< findings, as Insights lists them, ascending
  std::vector<Row> by_lane;       ///< work of streams; items as in the lane
  Ns recorded_ns = 0;             ///< from the first call or work to the end of the last
  Ns gain_ns = 0;                 ///< how much shorter it would be; negative if longer
  Ns end_ns = trace::kUnknownNs;  ///< of the last work, if repaired
};

/// "2 findings fixed: 11.98 ms -> 9.80 ms (-18 %)"
std::string describe(const Prediction& prediction);

/// True if the finding's repair can be replayed.
bool can_predict(const Document& document, size_t finding);

/// Findings that cannot be replayed are taken for not repaired. `replay` is of the document's
/// trace. O(ops + calls).
Prediction predict(const Document& document, const analysis::Replay& replay,
                   std::vector<size_t> repaired);

/// UI thread only.
class Predictor {
 public:
  Predictor();
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  /// What was predicted last for this document; begins anew if something else is wanted. Nothing
  /// if nothing is repaired. Does not block.
  std::shared_ptr<const Prediction> ask(const std::shared_ptr<const Document>& document,
                                        const std::vector<size_t>& repaired);
  /// True while the answer is not that of the last question.
  bool is_busy() const { return worker_.joinable(); }

 private:
  struct Model;  // what a replay needs, of one document; made when it is asked first

  void take_answer();

  std::shared_ptr<const Document> document_;
  std::shared_ptr<const Prediction> answer_;
  std::thread worker_;
  std::atomic<bool> done_ = false;
  std::unique_ptr<Model> model_;  // of document_; the worker's until it is done, as is the next
  Prediction next_;
};

}  // namespace streamscope::viewer
