// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of a C library's callbacks as calls of members. An exception does not pass through the
// library: it waits here until the library has returned.
#pragma once

#include <otf2/otf2.h>

#include <exception>
#include <utility>

namespace streamscope::import::otf2 {

/// What receives records. Not thread-safe.
class Receiver {
 public:
  /// Call it when the library has returned.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  template <class Act>
  OTF2_CallbackCode run(const Act& act) noexcept {
    try {
      act();
      return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
      failure_ = std::current_exception();
      return OTF2_CALLBACK_INTERRUPT;
    }
  }

 private:
  std::exception_ptr failure_;
};

/// forward_event<&T::member>: the callback that calls member(ticks, attributes, ...) of a T, a
/// Receiver.
template <auto kMember>
struct ForwardEvent;
template <class T, class... Args, void (T::*kMember)(uint64_t, OTF2_AttributeList*, Args...)>
struct ForwardEvent<kMember> {
  static OTF2_CallbackCode call(OTF2_LocationRef, OTF2_TimeStamp ticks, uint64_t, void* receiver,
                                OTF2_AttributeList* attributes, Args... args) {
    T& self = *static_cast<T*>(receiver);
    return self.run([&] { (self.*kMember)(ticks, attributes, args...); });
  }
};
template <auto kMember>
inline constexpr auto forward_event = &ForwardEvent<kMember>::call;

/// The same for definitions, which have neither times nor attributes.
template <auto kMember>
struct ForwardDefinition;
template <class T, class... Args, void (T::*kMember)(Args...)>
struct ForwardDefinition<kMember> {
  static OTF2_CallbackCode call(void* receiver, Args... args) {
    T& self = *static_cast<T*>(receiver);
    return self.run([&] { (self.*kMember)(args...); });
  }
};
template <auto kMember>
inline constexpr auto forward_definition = &ForwardDefinition<kMember>::call;

}  // namespace streamscope::import::otf2
