// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors: each searches a trace for one kind of mistake and answers found, clean, or why it
// cannot decide.
//
// A detector is a row of detectors/list.cpp and a function in a file of detectors/. The function
// only searches. Whether the evidence it needs is present, and how much its answer is worth if some
// is missing, is decided here for all detectors. To add one: docs/extending.md.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses.h"
#include "locations.h"
#include "trace/loss.h"
#include "vocabulary/finding.h"

namespace streamscope::analysis {

using streamscope::Confidence;
using streamscope::FindingSeverity;
using streamscope::Outcome;
using streamscope::to_string;
using enum trace::Evidence;  // what a detector examines

/// The predicted duration of an iteration without recording: of the program as it is, and with a
/// mistake repaired.
struct IterationGain {
  Ns before_ns = 0;
  Ns after_ns = 0;

  Ns gain_ns() const { return std::max<Ns>(0, before_ns - after_ns); }
  /// True if the repair saves less than 1 % of the iteration.
  bool is_small() const { return gain_ns() < before_ns / 100; }
};

/// One mistake, no matter how often it occurs. Ids that do not apply are kNoId.
struct Finding {
  std::string title;  ///< one line: what is wrong, with names
  std::string text;   ///< the reason (the path that implies it, the missing edge) and the remedy
  Id first_op = kNoId;
  Id second_op = kNoId;
  Id event_record = kNoId;
  Id event_wait = kNoId;
  Id host_sync = kNoId;
  Location place;  ///< of the call to change; filled from the rows named above
  Confidence confidence = Confidence::kCertain;
  Ns start_ns = kUnknownNs;  ///< the first time; filled from the rows named above if unknown
  Ns end_ns = kUnknownNs;
  Ns last_ns = kUnknownNs;  ///< the last time
  uint64_t count = 1;
  std::optional<Ns> gain_ns;               ///< estimated time that repairing all of them saves
  std::optional<IterationGain> iteration;  ///< the same for one iteration, if there are iterations
  std::shared_ptr<const Change> repair;    ///< of all of them; null if it cannot be replayed
  std::string_view needs = {};  ///< number of the detector whose findings are to be repaired before
};

/// Collects findings and merges similar ones.
class Findings {
 public:
  /// What identifies a mistake: streams, names, call sites, as numbers.
  using Key = std::vector<uint64_t>;

  /// Counts one occurrence. `make` is called only for the first of its key.
  void add(Key key, Ns at_ns, const std::function<Finding()>& make);
  /// The finding of a key, to add to its gain or count; nullptr if there is none.
  Finding* find(const Key& key);
  /// Reports evidence that this recording never contains; if nothing was found, the answer is "not
  /// at this tier".
  void never_reported(std::string reason) { untold_ = std::move(reason); }

  std::vector<Finding> take() { return std::move(findings_); }
  const std::string& untold() const { return untold_; }

 private:
  std::map<Key, size_t> by_key_;
  std::vector<Finding> findings_;
  std::string untold_;
};

struct Detector {
  std::string_view id;      ///< kebab-case; never renamed or reused after a release
  std::string_view number;  ///< "SS201"
  std::string_view title;   ///< what it finds, one line
  FindingSeverity severity;
  unsigned needs;  ///< set of Evidence
  void (*look)(Analyses&, Findings&);
  double ease = 1;  ///< factor on gains where repairs are ranked: less if a repair is more work
};

/// The severity of its detector; a note if the finding is only possible, or if it is no fault of
/// correctness and costs less than 1 % of an iteration.
FindingSeverity severity_of(const Detector& detector, const Finding& finding);

/// All detectors, by number.
std::span<const Detector> detectors();
/// By id or number, nullptr if there is none.
const Detector* find_detector(std::string_view name);

/// For display: "calls", "events", ...; a set is separated by ", ".
std::string to_string_of_evidence(unsigned evidence);

struct Verdict {
  const Detector* detector = nullptr;
  Outcome outcome = Outcome::kClean;
  std::string reason;             ///< unless found or clean: what is missing
  std::vector<Finding> findings;  ///< most costly, then most frequent first
};

/// What evidence a trace contains.
struct AvailableEvidence {
  unsigned promised = 0;  ///< set of Evidence; the rest was not to be recorded
  struct Gap {
    unsigned evidence;
    std::string reason;  ///< "1,024 records were lost (ring-full)"
  };
  std::vector<Gap> gaps;  ///< where expected evidence is incomplete

  /// Why the answer of a detector with these needs is uncertain; empty if it is certain.
  std::string reason(unsigned needs) const;
};
AvailableEvidence evidence_of(const Trace& trace);

/// Runs one detector.
Verdict evaluate(const Detector& detector, Analyses& analyses, const AvailableEvidence& evidence);
/// Runs all detectors.
std::vector<Verdict> evaluate_all(Analyses& analyses);

}  // namespace streamscope::analysis
