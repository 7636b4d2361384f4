// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that knows only the driver API: no runtime call may be needed to see it.
//   driver_api [--rounds N]
#include "driver.h"

int main(int argc, char** argv) {
  const driver::Functions functions = driver::load();
  driver::take_turns(functions, static_cast<int>(counted::option(argc, argv, "--rounds", 40)));
  counted::report("driver_api");
}
