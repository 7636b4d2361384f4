// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that uses only the driver API: it must be recorded without any runtime call.
//   driver_api [--rounds N]
#include "driver.h"

int main(int argc, char** argv) {
  const driver::Functions functions = driver::load();
  driver::take_turns(functions, static_cast<int>(counted::option(argc, argv, "--rounds", 40)));
  counted::report("driver_api");
}
