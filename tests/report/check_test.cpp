// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "samples.h"
#include "support/golden.h"
#include "support/units.h"

namespace streamscope::report {
namespace {

using analysis::FindingSeverity;
using nlohmann::json;
using test::kUs;
using testing::HasSubstr;
using testing::Not;
using trace::Id;
using trace::Trace;

// An error with a call site: the kernel runs before the work that it should wait for.
// `first_stream` streams and `at` shift ids and times; `line` and `kernel` change the source of the
// program.
test::TraceBuilder wait_for_nothing(int first_stream = 0, trace::Ns at = 0,
                                    const char* call_site = "/home/ada/train.py:41 step",
                                    const char* kernel = "consume") {
  test::TraceBuilder builder;
  for (int i = 0; i < first_stream; ++i)
    builder.stream("other " + std::to_string(i)).kernel("busy", at, at + kUs);
  test::StreamBuilder stream = builder.stream("math");
  builder.at(at);
  stream.wait("ready").kernel(kernel, at + 10 * kUs, at + 20 * kUs).record("done");
  builder.synchronize_event("done", at + 5 * kUs, at + 21 * kUs);
  const Id operation = builder.operation("consume", stream);
  builder.columns().operation.call_site_id[operation] = builder.intern(call_site);
  builder.columns().event_wait.operation_id[0] = operation;
  builder.meta("tier", "times");
  return builder;
}

// Work that another stream waits for unnecessarily: a warning, no error.
test::TraceBuilder redundant_wait() {
  test::TraceBuilder builder;
  test::StreamBuilder stream = builder.stream("math");
  stream.kernel("a", 10 * kUs, 20 * kUs).record("own").wait("own").kernel("b", 21 * kUs, 30 * kUs);
  stream.synchronize(5 * kUs, 31 * kUs);
  return builder.meta("tier", "times");
}

// Kernels on two streams that get the same pointer: possible races, nothing certain.
test::TraceBuilder possible_races() {
  test::TraceBuilder builder;
  builder.meta("kernel_arguments", "1").meta("tier", "times").malloc(0x7000'0000, 4096);
  for (const char* kernel : {"first", "second"}) {
    for (const char* stream : {"left", "right"})
      builder.stream(stream).kernel(kernel, 10 * kUs, 20 * kUs).parameter(0, 0x7000'0000);
  }
  return builder;
}

CheckResult result_of(const Trace& trace, const CheckOptions& options = {}) {
  return check(trace, options).result;
}

json sarif_of(const Trace& trace) { return json::parse(write_check_sarif(check(trace, {}), {})); }

TEST(CheckGolden, EveryFormatIsAsApproved) {
  const Trace found = wait_for_nothing().trace();
  for (const CheckFormat& format : check_formats()) {
    const std::string extension = format.name == "text" ? "txt" : std::string(format.name);
    test::expect_golden("check/error." + extension, format.write(check(found, {}), {}));
  }
  const std::vector<test::Sample> samples = test::samples();
  const auto lossy = std::find_if(samples.begin(), samples.end(),
                                  [](const auto& s) { return s.name == std::string("losses"); });
  ASSERT_NE(lossy, samples.end());
  test::expect_golden("check/losses.txt", write_check_text(check(lossy->trace, {}), {}));
}

TEST(Check, FailsOnCertainFindingsOfTheRequestedSeverity) {
  EXPECT_EQ(result_of(test::pipeline().trace()), CheckResult::kPassed);
  EXPECT_EQ(result_of(wait_for_nothing().trace()), CheckResult::kFailed);
  const Trace warned = redundant_wait().trace();
  EXPECT_EQ(result_of(warned), CheckResult::kPassed);
  EXPECT_EQ(result_of(warned, {.fail_on = FindingSeverity::kWarning}), CheckResult::kFailed);
  EXPECT_EQ(result_of(wait_for_nothing().trace(), {.fail_on = FindingSeverity::kNote}),
            CheckResult::kFailed);
}

TEST(Check, AbstainsWhenPromisedEvidenceIsMissing) {
  test::TraceBuilder clean = test::pipeline();
  clean.loss("ring-full");
  EXPECT_EQ(result_of(clean.trace()), CheckResult::kNotEvaluable);
  // The finding may be caused by missing data.
  test::TraceBuilder suspect = wait_for_nothing();
  suspect.loss("ring-full");
  const Check checked = check(suspect.trace(), {});
  EXPECT_EQ(checked.result, CheckResult::kNotEvaluable);
  EXPECT_EQ(checked.findings.size(), 1u);
  EXPECT_FALSE(checked.open.empty());
}

TEST(Check, IgnoresMissingEvidenceThatItsSeverityDoesNotNeed) {
  test::TraceBuilder untimed = test::pipeline();
  untimed.loss("cupti-dropped");
  EXPECT_EQ(result_of(untimed.trace()), CheckResult::kPassed);
  EXPECT_EQ(result_of(untimed.trace(), {.fail_on = FindingSeverity::kWarning}),
            CheckResult::kNotEvaluable);
}

TEST(Check, IgnoresEvidenceThatWasNeverPromisedUnlessRequired) {
  test::TraceBuilder builder = test::pipeline();
  builder.meta("tier", "structure");
  const Trace trace = builder.trace();
  EXPECT_EQ(result_of(trace, {.fail_on = FindingSeverity::kWarning}), CheckResult::kPassed);
  const auto* needs_times = analysis::find_detector("false-serialization");
  EXPECT_EQ(result_of(trace, {.required = {needs_times}}), CheckResult::kNotEvaluable);
  EXPECT_EQ(result_of(test::pipeline().trace(), {.required = {needs_times}}), CheckResult::kPassed);
}

TEST(Check, NeverFailsOnPossibleFindings) {
  const Trace trace = possible_races().trace();
  for (auto fail_on :
       {FindingSeverity::kError, FindingSeverity::kWarning, FindingSeverity::kNote}) {
    const Check checked =
        check(trace, {.fail_on = fail_on, .required = {analysis::find_detector("stream-race")}});
    EXPECT_EQ(checked.result, CheckResult::kPassed);
    EXPECT_EQ(checked.failing, 0u);
    EXPECT_EQ(checked.findings.size(), 3u);
    EXPECT_THAT(write_check_junit(checked, {}),
                testing::AllOf(HasSubstr("failures=\"0\""), Not(HasSubstr("<failure"))));
    EXPECT_THAT(write_check_github(checked, {}),
                testing::AllOf(Not(HasSubstr("::error")), Not(HasSubstr("::warning")),
                               HasSubstr("3 possible findings")));
  }
  // It is also silent where evidence is missing.
  test::TraceBuilder lossy = possible_races();
  lossy.loss("ring-full");
  EXPECT_EQ(result_of(lossy.trace()), CheckResult::kNotEvaluable);
}

TEST(Check, SummarizesPossibleFindingsInOneLine) {
  const Trace trace = possible_races().trace();
  const Check folded = check(trace, {}), listed = check(trace, {.show_possible = true});
  const std::string line = "3 possible findings (3 stream-race)";
  EXPECT_THAT(write_check_text(folded, {}),
              testing::AllOf(HasSubstr(line), HasSubstr("--show possible lists them"),
                             Not(HasSubstr("may access")), Not(HasSubstr("error:"))));
  EXPECT_THAT(write_check_text(listed, {}),
              testing::AllOf(HasSubstr("possible: first on stream"), HasSubstr("may access"),
                             HasSubstr("never fails a check"), Not(HasSubstr("error:")),
                             Not(HasSubstr("--show possible"))));
  for (const CheckFormat& format : check_formats()) {
    if (format.name == "json" || format.name == "sarif") continue;
    EXPECT_THAT(format.write(folded, {}), Not(HasSubstr("may access"))) << format.name;
    EXPECT_THAT(format.write(listed, {}), HasSubstr("may access")) << format.name;
  }
}

TEST(Check, KeepsPossibleFindingsInJsonAndSarifAsNotes) {
  const Trace trace = possible_races().trace();
  const Check checked = check(trace, {});
  const json findings = json::parse(write_check_json(checked, {}))["findings"];
  ASSERT_EQ(findings.size(), 3u);
  for (const json& finding : findings) {
    EXPECT_EQ(finding["confidence"], "possible");
    EXPECT_EQ(finding["severity"], "note");
  }
  const json results = sarif_of(trace)["runs"][0]["results"];
  ASSERT_EQ(results.size(), 3u);
  for (const json& result : results) EXPECT_EQ(result["level"], "note");
}

TEST(Check, LeavesPossibleFindingsOutOfTheBaseline) {
  const Trace trace = possible_races().trace();
  EXPECT_TRUE(json::parse(write_baseline(check(trace, {})))["findings"].empty());
}

TEST(CheckText, StatesTheResultAndWhatIsMissing) {
  const Trace trace = wait_for_nothing().trace();
  EXPECT_THAT(write_check_text(check(trace, {}), {}),
              testing::AllOf(HasSubstr("failed: 1 finding of severity error or above"),
                             HasSubstr("SS005 wait-on-unrecorded")));
  test::TraceBuilder lossy = test::pipeline();
  lossy.loss("ring-full");
  const Trace lost = lossy.trace();
  EXPECT_THAT(write_check_text(check(lost, {}), {}),
              testing::AllOf(HasSubstr("not evaluable:"), HasSubstr("(ring-full)")));
}

TEST(CheckFingerprint, StaysWhenIdsTimesAndLinesMove) {
  const auto print = [](const test::TraceBuilder& builder) {
    const Trace trace = builder.trace();
    const Check checked = check(trace, {});
    return checked.findings.empty() ? "none" : checked.findings.front().fingerprint;
  };
  const std::string original = print(wait_for_nothing());
  EXPECT_EQ(original.size(), 16u);
  EXPECT_EQ(print(wait_for_nothing(3, 5000 * kUs)), original);
  EXPECT_EQ(print(wait_for_nothing(0, 0, "/home/ada/train.py:57 step")), original);
  EXPECT_NE(print(wait_for_nothing(0, 0, "/home/ada/train.py:41 evaluate")), original);
  EXPECT_NE(print(wait_for_nothing(0, 0, "/home/ada/train.py:41 step", "other")), original);
}

TEST(CheckSarif, HasWhatTheSchemaRequires) {
  for (const test::Sample& sample : test::samples()) {
    const json log = sarif_of(sample.trace);
    EXPECT_EQ(log["version"], "2.1.0");
    ASSERT_EQ(log["runs"].size(), 1u);
    const json& run = log["runs"][0];
    const json& driver = run["tool"]["driver"];
    EXPECT_EQ(driver["name"], "streamscope");
    EXPECT_EQ(driver["rules"].size(), analysis::detectors().size());
    std::set<std::string> ids;
    for (const json& rule : driver["rules"]) {
      EXPECT_TRUE(ids.insert(rule["id"]).second);
      EXPECT_TRUE(rule["shortDescription"]["text"].is_string());
      EXPECT_THAT((std::set<std::string>{"none", "note", "warning", "error"}),
                  testing::Contains(rule["defaultConfiguration"]["level"].get<std::string>()));
    }
    EXPECT_TRUE(run["invocations"][0]["executionSuccessful"].is_boolean());
    for (const json& result : run["results"]) {
      EXPECT_EQ(driver["rules"].at(result["ruleIndex"].get<size_t>())["id"], result["ruleId"]);
      EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
      EXPECT_GE(result["occurrenceCount"], 1);
      EXPECT_TRUE(result["partialFingerprints"]["structure/v1"].is_string());
    }
  }
}

TEST(CheckSarif, NamesFileAndLineWithoutTheFolder) {
  const json log = sarif_of(wait_for_nothing().trace());
  ASSERT_EQ(log["runs"][0]["results"].size(), 1u);
  const json& result = log["runs"][0]["results"][0];
  EXPECT_EQ(result["level"], "error");
  const json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "train.py");
  EXPECT_EQ(place["region"]["startLine"], 41);
  EXPECT_THAT(log.dump(), Not(HasSubstr("ada")));
}

TEST(CheckSarif, DistinguishesSimilarFindings) {
  test::TraceBuilder builder;
  // Without names nothing distinguishes two streams.
  for (const char* stream : {"a", "b"})
    builder.stream(stream).wait(std::string("never ") + stream).kernel("same", 10, 20);
  for (Id stream = 0; stream < 2; ++stream) builder.columns().stream.name_id[stream] = trace::kNoId;
  for (Id event = 0; event < 2; ++event) builder.columns().event.name_id[event] = trace::kNoId;
  const json results = sarif_of(builder.trace())["runs"][0]["results"];
  ASSERT_EQ(results.size(), 2u);
  EXPECT_NE(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);
}

}  // namespace
}  // namespace streamscope::report
