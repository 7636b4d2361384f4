// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "error.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

namespace streamscope {
namespace {

std::string one_line(const std::string& subject, const std::string& cause,
                     const std::string& remedy) {
  std::string line = subject + ": " + cause;
  if (!remedy.empty()) line += "; " + remedy;
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
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

std::string remedy_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return "check its permissions and those of its folder, or choose another place";
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another place";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f)";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return "check the path";
    case EIO:
      return "check the disk";
    case ENOMEM:
      return "free some memory";
    default:
      return "choose another place";
  }
}

}  // namespace streamscope
