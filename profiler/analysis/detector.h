// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detectors: each looks for one kind of mistake in a trace and answers found, clean or why it
// cannot tell.
//
// A detector is a row of detectors/list.cpp and a function in a file of detectors/. The function
// only looks; that the evidence it needs is there, and what its answer is worth if some is missing,
// is decided here for all of them alike. To add one: docs/extending.md.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses.h"
#include "places.h"
#include "trace/loss.h"

namespace streamscope::analysis {

/// With the numbers of `finding.severity`.
enum class FindingSeverity : trace::Small { kNote = 0, kWarning, kError };

/// With the numbers of `finding.confidence`.
enum class Confidence : trace::Small {
  kCertain = 0,  ///< all evidence is there
  kSuspected,    ///< evidence that was promised is incomplete
  kPossible,     ///< from indirect evidence, such as kernel parameters; a note that fails no check
};

using enum trace::Evidence;  // what a detector looks at

/// One mistake, however often it was made. Ids that do not apply are kNoId.
struct Finding {
  std::string title;  ///< one line: what is wrong, with names
  std::string text;   ///< why it is so (the path that implies it, the edge that is missing), remedy
  Id first_op = kNoId;
  Id second_op = kNoId;
  Id event_record = kNoId;
  Id event_wait = kNoId;
  Id host_sync = kNoId;
  Place place;  ///< of the call to change; filled from the rows named above
  Confidence confidence = Confidence::kCertain;
  Ns start_ns = kUnknownNs;  ///< the first time; filled from the rows named above if unknown
  Ns end_ns = kUnknownNs;
  Ns last_ns = kUnknownNs;  ///< the last time
  uint64_t count = 1;
  std::optional<Ns> gain_ns;             ///< estimated time that repairing all of them saves
  std::shared_ptr<const Change> repair;  ///< of all of them; null where it cannot be replayed
};

/// Collects findings and takes alike ones together.
class Findings {
 public:
  /// What makes two of them the same mistake: streams, names, call sites, as numbers.
  using Key = std::vector<uint64_t>;

  /// Counts one at an instant. `make` is called for the first of its key only.
  void add(Key key, Ns at_ns, const std::function<Finding()>& make);
  /// The finding of a key, to add to its gain or count; nullptr if there is none.
  Finding* find(const Key& key);
  /// Evidence that one of them turned out to lack; the answer is then not "clean".
  void lacks(std::string reason);
  /// Evidence that this recording was never meant to have; if nothing was found, the answer is "not
  /// at this tier".
  void never_reported(std::string reason);

  std::vector<Finding> take() { return std::move(findings_); }
  const std::vector<std::string>& lacking() const { return lacking_; }
  const std::string& untold() const { return untold_; }

 private:
  std::map<Key, size_t> by_key_;
  std::vector<Finding> findings_;
  std::vector<std::string> lacking_;
  std::string untold_;
};

struct Detector {
  std::string_view id;      ///< kebab-case; never renamed or reused after a release
  std::string_view number;  ///< "SS201"
  std::string_view title;   ///< what it finds, one line
  FindingSeverity severity;
  unsigned needs;  ///< set of Evidence
  void (*look)(Analyses&, Findings&);
};

/// That of its detector; a note if the finding is only possible.
FindingSeverity severity_of(const Detector& detector, const Finding& finding);

/// All detectors, in order of their numbers.
std::span<const Detector> detectors();
/// By id or number, nullptr if there is none.
const Detector* find_detector(std::string_view name);

/// For people: "calls", "events", ...; of a set, separated by ", ".
std::string to_string_of_evidence(unsigned evidence);
std::string_view to_string(FindingSeverity severity);  ///< "note", "warning", "error"
std::string_view to_string(Confidence confidence);     ///< "certain", "suspected", "possible"

enum class Outcome {
  kFound,
  kClean,
  kNotAtThisTier,  ///< needs evidence that this recording or format never promised
  kNotEvaluable,   ///< promised evidence is missing
};
std::string_view to_string(Outcome outcome);  ///< "found", "clean", "not-at-this-tier", ...

struct Verdict {
  const Detector* detector = nullptr;
  Outcome outcome = Outcome::kClean;
  std::string reason;             ///< unless found or clean: what is missing
  std::vector<Finding> findings;  ///< dearest, then most frequent first
};

/// What a trace can serve as evidence for.
struct AvailableEvidence {
  unsigned promised = 0;  ///< set of Evidence; the rest was never meant to be recorded
  struct Gap {
    unsigned evidence;
    std::string reason;  ///< "1,024 records were lost (ring-full)"
  };
  std::vector<Gap> gaps;  ///< where promised evidence is incomplete

  /// Why a detector with these needs cannot vouch for its answer; empty if it can.
  std::string reason(unsigned needs) const;
};
AvailableEvidence evidence_of(const Trace& trace);

/// Runs one detector.
Verdict evaluate(const Detector& detector, Analyses& analyses, const AvailableEvidence& evidence);
/// Runs all of them.
std::vector<Verdict> evaluate_all(Analyses& analyses);

}  // namespace streamscope::analysis
