// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that makes the same calls from many places.
#include <alloca.h>

#include <random>
#include <span>
#include <string>

#include "child.h"

namespace child {
namespace {

const auto kStream = handle<cudaStream_t>(0xa00a);

[[gnu::noinline]] void make_call() {
  launch(kStream);
  asm volatile("");  // a call at the end would be a jump
}

[[gnu::noinline]] void right(const char* way);
[[gnu::noinline]] void left(const char* way) {
  if (*way == 0) make_call();
  if (*way == 'l') left(way + 1);
  if (*way == 'r') right(way + 1);
  asm volatile("");
}
[[gnu::noinline]] void right(const char* way) {
  if (*way == 0) make_call();
  if (*way == 'l') left(way + 1);
  if (*way == 'r') right(way + 1);
  asm volatile("");
}
// Its frame differs in size from time to time.
[[gnu::noinline]] void varied(const char* way, size_t bytes) {
  auto* memory = static_cast<volatile char*>(alloca(bytes));
  memory[0] = 0;
  left(way);
  asm volatile("" : : "r"(memory));
}

// Prints the way of each call.
int stacks_of_many_places(const Arguments&) {
  cuInit(0);
  create_context();
  std::mt19937 random(5);
  std::string ways;
  for (int i = 0; i < 3000; ++i) {
    std::string way(random() % 5, 'l');
    for (char& step : way) step = random() % 2 == 0 ? 'l' : 'r';
    const size_t bytes = 16 << random() % 8;
    varied(way.c_str(), bytes);
    ways += (i == 0 ? "" : " ") + (way.empty() ? "-" : way);
  }
  say(ways.c_str());
  return 0;
}

constexpr Scenario kScenarios[] = {
    {"stacks-of-many-places", stacks_of_many_places},
};

}  // namespace
}  // namespace child

std::span<const child::Scenario> stack_scenarios() { return child::kScenarios; }
