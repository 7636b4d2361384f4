// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/scratch_file.h"
#include "report/check/budget.h"
#include "trace/error.h"

using namespace streamscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const report::BudgetFile file =
        report::parse_budgets({reinterpret_cast<const char*>(data), size}, "budget", "step");
    for (const report::Budget& budget : file.budgets) {
      if (budget.text().empty() || budget.limit_text().empty()) __builtin_trap();
    }
    for (const analysis::Assertion& assertion : file.assertions) {
      if (analysis::parse_assertion(assertion.text(), "budget") != assertion) __builtin_trap();
    }
  } catch (const Error&) {  // an error in the file
  }
  return 0;
}
