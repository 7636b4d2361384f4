// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/compare/diff.h"
#include "analysis/units.h"
#include "iteration.h"

namespace streamscope::report {
namespace {

using analysis::ComparedIterations;
using analysis::format_change;
using analysis::format_count;
using analysis::format_duration;
using analysis::format_duration_change;
using analysis::format_mean;
using analysis::format_percent;
using analysis::IterationDiff;
using analysis::PlaceChange;
using analysis::TimeShare;
using trace::Ns;

constexpr size_t kPlacesShown = 10;  // JSON has more

const char* name_of(PlaceChange::Kind kind) {
  return kind == PlaceChange::kSynchronization ? "blocked in" : "late launch of";
}

std::string quartiles(const ComparedIterations& run) {
  return fmt::format("{} ({} to {}, {})", format_duration(run.median_ns),
                     format_duration(run.low_ns), format_duration(run.high_ns),
                     format_count(run.count, "iteration"));
}

std::string duration_sentence(const IterationDiff& diff) {
  return fmt::format(
      "{} an iteration instead of {}: {} ({}; median, quartiles).", quartiles(diff.now),
      quartiles(diff.base),
      format_change(analysis::TraceDiff::growth(diff.base.median_ns, diff.now.median_ns)),
      diff.how);
}

std::string test_sentence(const IterationDiff& diff) {
  const double p = diff.test.p_value;
  const std::string value = p < 0.001 ? "p < 0.001" : fmt::format("p = {:.2g}", p);
  if (!diff.is_significant())
    return fmt::format("Chance may explain the difference ({}, Mann-Whitney test).", value);
  const bool slower = diff.test.longer >= 0.5;
  return fmt::format(
      "Chance does not explain the difference ({}, Mann-Whitney test): of an iteration of each "
      "run, "
      "the new one is {} in {} of all pairs.",
      value, slower ? "slower" : "faster",
      format_percent(slower ? diff.test.longer : 1 - diff.test.longer));
}

// What grew most, and where; "" if nothing did.
std::string growth_sentence(const IterationDiff& diff) {
  const TimeShare share = diff.most_grown();
  if (diff.growth_ns(share) <= 0) return "";
  const auto index = static_cast<size_t>(share);
  std::string text = fmt::format("Grew most: {}, from {} to {}", names_of(share).shown,
                                 format_duration(diff.base.mean_shares_ns[index]),
                                 format_duration(diff.now.mean_shares_ns[index]));
  const auto kind =
      share == TimeShare::kSynchronizing ? PlaceChange::kSynchronization : PlaceChange::kLateLaunch;
  const bool has_places = share == TimeShare::kSynchronizing || share == TimeShare::kLaunching ||
                          share == TimeShare::kOutside;
  const auto grew = [&](const PlaceChange& place) {
    return place.kind == kind && place.growth_ns() > 0;
  };
  const auto place = std::ranges::find_if(diff.places, grew);
  if (has_places && place != diff.places.end()) {
    text += fmt::format("; most of it {} {}{}", name_of(kind), place->name,
                        place->call_site.empty() ? "" : ", from " + place->call_site);
  }
  return text + ".";
}

// Whether the machine explains it; "" if not.
std::string pace_sentence(const IterationDiff& diff) {
  const double slowdown = diff.host_slowdown();
  if (slowdown == 1) return "";
  const auto instead = [](Ns base, Ns now) {
    return fmt::format("{} instead of {}", format_duration(now), format_duration(base));
  };
  return fmt::format(
      "The host is {} at everything: a launch takes it {}, and the program {} between two calls "
      "(medians). A {} processor does that; a change at one place of the program does not.",
      slowdown > 1 ? "slower" : "faster",
      instead(diff.base.pace.launch_ns, diff.now.pace.launch_ns),
      instead(diff.base.pace.between_ns, diff.now.pace.between_ns),
      slowdown > 1 ? "slower or busier" : "faster or less busy");
}

Section share_section(const IterationDiff& diff) {
  Section section{
      .title = kIterationTitle,
      .remarks = duration_sentences(diff),
      .columns = {{"change", true}, {"baseline", true}, {"new", true}, {"spent on"}},
      .footnotes = {"means over the steady iterations along the critical path; the test "
                    "compares the iterations of these two runs, not other runs"}};
  if (std::string text = growth_sentence(diff); !text.empty())
    section.remarks.push_back(std::move(text));
  if (std::string text = pace_sentence(diff); !text.empty())
    section.remarks.push_back(std::move(text));
  std::vector<TimeShare> shares;
  for (size_t i = 0; i < analysis::kShareCount; ++i) {
    const auto whole = [&](const ComparedIterations& run) {
      return static_cast<double>(run.mean_shares_ns[i]) >=
             kLeastShownShare * static_cast<double>(run.mean_ns);
    };
    if (whole(diff.base) || whole(diff.now)) shares.push_back(static_cast<TimeShare>(i));
  }
  std::ranges::stable_sort(shares, std::ranges::greater{},
                           [&](TimeShare share) { return std::abs(diff.growth_ns(share)); });
  const auto add = [&](std::string_view name, Ns before, Ns after) {
    section.rows.push_back({format_duration_change(after - before), format_duration(before),
                            format_duration(after), std::string(name)});
  };
  add("the whole iteration", diff.base.mean_ns, diff.now.mean_ns);
  for (const TimeShare share : shares) {
    const auto i = static_cast<size_t>(share);
    add(names_of(share).shown, diff.base.mean_shares_ns[i], diff.now.mean_shares_ns[i]);
  }
  return section;
}

Section place_section(const IterationDiff& diff) {
  Section section{.title = "Where the host's time changed",
                  .columns = {{"change", true},
                              {"baseline", true},
                              {"new", true},
                              {"times", true},
                              {"what"},
                              {"called from"}},
                  .footnotes = {"per iteration; late launch: gaps before work that the host issued "
                                "late, of all streams"}};
  for (const PlaceChange& place : diff.places) {
    if (section.rows.size() == kPlacesShown) break;
    section.rows.push_back(
        {format_duration_change(place.growth_ns()), format_duration(place.base_ns),
         format_duration(place.new_ns),
         analysis::format_step(format_mean(place.base_count), format_mean(place.new_count)),
         fmt::format("{} {}", name_of(place.kind), place.name), place.call_site});
  }
  if (diff.places.size() > kPlacesShown)
    section.footnotes.push_back("smaller changes are in --format json");
  return section;
}

}  // namespace

std::vector<std::string> duration_sentences(const IterationDiff& diff) {
  return {duration_sentence(diff), test_sentence(diff)};
}

Json durations_json(const ComparedIterations& run) {
  return Json{{"steady_count", run.count},
              {"median_ns", run.median_ns},
              {"quartiles_ns", {run.low_ns, run.high_ns}},
              {"mean_ns", run.mean_ns}};
}

Json test_json(const IterationDiff& diff) {
  return Json{{"p_value", diff.test.p_value},
              {"new_is_longer", diff.test.longer},
              {"significant", diff.is_significant()}};
}

std::vector<Section> iteration_sections(const IterationDiff& diff) {
  if (!diff.comparable()) return {};
  std::vector<Section> sections{share_section(diff)};
  if (!diff.places.empty()) sections.push_back(place_section(diff));
  return sections;
}

Json iteration_json(const IterationDiff& diff) {
  if (!diff.comparable()) return Json{{"comparable", false}, {"why_not", diff.why_not}};
  const auto run_json = [](const ComparedIterations& run) {
    Json shares = Json::object();
    for (size_t i = 0; i < analysis::kShareCount; ++i)
      shares[names_of(static_cast<TimeShare>(i)).id] = run.mean_shares_ns[i];
    Json json = durations_json(run);
    json["mean_shares_ns"] = std::move(shares);
    json["host_pace"] = to_json(run.pace);
    return json;
  };
  const auto place_json = [](const PlaceChange& place) {
    return Json{
        {"what", place.kind == PlaceChange::kSynchronization ? "synchronization" : "late-launch"},
        {"name", place.name},
        {"called_from", place.call_site},
        {"base_ns", place.base_ns},
        {"new_ns", place.new_ns},
        {"base_count", place.base_count},
        {"new_count", place.new_count}};
  };
  const bool grew = diff.growth_ns(diff.most_grown()) > 0;
  Json json{{"comparable", true},
            {"how", diff.how},
            {"base", run_json(diff.base)},
            {"new", run_json(diff.now)}};
  json.update(test_json(diff));
  json["host_slowdown"] = diff.host_slowdown();
  json["grew_most"] = grew ? Json(names_of(diff.most_grown()).id) : Json();
  json["places"] = array_of(diff.places, place_json);
  return json;
}

}  // namespace streamscope::report
