// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The profiler's exception: what cannot be used, why, and what to do about it.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace streamscope {

/// Thrown by public functions of the profiler for unusable input or a failed system service;
/// expected outcomes are return values instead. what() is one line: "SUBJECT: cause; remedy".
class Error : public std::runtime_error {
 public:
  /// `subject` is the file or call at fault, `code` the underlying error number (errno, SQLite), 0
  /// if none.
  Error(std::string subject, std::string cause, std::string remedy = "", int code = 0);

  const std::string& subject() const { return subject_; }
  const std::string& cause() const { return cause_; }
  const std::string& remedy() const { return remedy_; }
  int code() const { return code_; }

 private:
  std::string subject_, cause_, remedy_;
  int code_;
};

/// The line for a user, for any exception: what() of an Error; for lack of memory also the remedy;
/// anything else is reported as an internal error.
std::string explain(const std::exception& error);

/// The remedy for a file or folder for which a system call failed with this errno.
std::string remedy_for(int error);

}  // namespace streamscope
