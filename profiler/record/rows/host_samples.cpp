// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "host_samples.h"

namespace streamscope::record {

void HostSamples::describe(const ring::ThreadRecord& record) {
  python_.insert_or_assign(record.tid, PythonThread{.state = record.python_state,
                                                    .code_type = record.python_code_type,
                                                    .text_type = record.python_text_type,
                                                    .minor = record.python_minor});
}

PythonThread HostSamples::python(uint32_t tid) const {
  const PythonThread* known = python_.find(tid);
  return known != nullptr ? *known : PythonThread{};
}

void HostSamples::add(const HostSample& sample) {
  trace::HostSample row{.thread_id = objects_.thread(sample.tid, ""),
                        .at_ns = run_.to_ns(sample.at, 0),
                        .runs = sample.runs ? 1 : 0};
  if (sample.system_call) row.system_call = static_cast<trace::Small>(*sample.system_call);
  if (sample.ran_ns) row.ran_ns = *sample.ran_ns;
  if (sample.delayed_ns) row.delayed_ns = *sample.delayed_ns;
  if (sample.stack) row.stack_id = stacks_.sampled(*sample.stack);
  run_.writer.append(row);
}

}  // namespace streamscope::record
