// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// timed-event-cost (SS215): events created without cudaEventDisableTiming are recorded in the
//   middle of the work. Each such record takes a time stamp, which costs its stream about 2 µs and
//   keeps the whole device from starting work for about 3 µs. Where many streams run short kernels,
//   the run takes up to 4.5 times as long (measured on an H200). Evidence: creation flags of
//   events, calls, times. Ignored if the replay without the time stamps gains too little to report.
//   Programs that read elapsed times need some of these events, and the finding says so.
#include <fmt/format.h>

#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "steps.h"

namespace streamscope::analysis {

void find_costly_timed_events(Analyses& analyses, Findings& findings) {
  const Trace& trace = analyses.trace();
  const std::vector<size_t> asked = elapsed_times_read(trace);
  std::map<Findings::Key, Change> repairs;
  std::map<Findings::Key, std::vector<Id>> records;
  for (const Issued item : analyses.order().items()) {
    if (item.kind() != Issued::kRecord || !takes_time_stamp(trace, item.id())) continue;
    const Findings::Key key{trace.process_of_thread(trace.event_record.thread_id[item.id()])};
    repairs[key].untimed_record.add(item.id());
    records[key].push_back(item.id());
  }
  for (const auto& [key, rows] : records) {
    const Ns gain = analyses.replay().gain_ns(repairs[key]);
    if (!is_worth_a_line(analyses, gain)) continue;
    findings.add(key, trace.event_record.end_ns[rows.back()], [&, &rows = rows, &key = key] {
      Finding finding;
      finding.event_record = rows.front();
      finding.start_ns = trace.event_record.start_ns[rows.front()];
      finding.end_ns = trace.event_record.end_ns[rows.back()];
      finding.second_op =
          next_op_on(analyses, trace.event_record.stream_id[rows.front()], finding.start_ns);
      finding.title = "event records with timing delay work on the device";
      finding.text = fmt::format(
          "{}, such as on stream {} before {}, take a time stamp of about 3 µs each, during which "
          "the device starts no work. ",
          format_count(rows.size(), "record"),
          stream_label(trace, trace.event_record.stream_id[rows.front()]),
          op_on_stream(trace, finding.second_op));
      const size_t times = key[0] < asked.size() ? asked[key[0]] : 0;
      finding.text += times == 0
                          ? "The program never reads an elapsed time: create the events with "
                            "cudaEventDisableTiming."
                          : fmt::format(
                                "The program reads {}: measure in fewer places, and create "
                                "all other events with cudaEventDisableTiming.",
                                format_count(times, "elapsed time"));
      finding.count = rows.size();
      finding.gain_ns = gain;
      finding.repair = std::make_shared<const Change>(repairs[key]);
      return finding;
    });
  }
}

}  // namespace streamscope::analysis
