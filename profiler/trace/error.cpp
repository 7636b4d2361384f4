// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <new>
#include <utility>

namespace streamscope {
namespace {

std::string one_line(const std::string& subject, const std::string& cause,
                     const std::string& remedy) {
  std::string line = subject + ": " + cause;
  if (!remedy.empty()) line += "; " + remedy;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

}  // namespace

Error::Error(std::string subject, std::string cause, std::string remedy, int code)
    : std::runtime_error(one_line(subject, cause, remedy)),
      subject_(std::move(subject)),
      cause_(std::move(cause)),
      remedy_(std::move(remedy)),
      code_(code) {}

std::string explain(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return "out of memory; record or read a shorter part";
  return std::string("internal error: ") + error.what();
}

}  // namespace streamscope
