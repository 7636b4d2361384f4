// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Script interface of the stand-in libcuda.so.1 and libcupti.so.13: a test program plays the CUDA
// runtime and reports calls to the fakes; they call the collector back exactly as the real
// libraries do.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>

#define FAKE_API extern "C" __attribute__((visibility("default")))

// A call in progress: fake_enter() delivers the ENTER callback, fake_exit() the EXIT. Calls nest.
struct FakeCall {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId id;
  CUpti_CallbackData data;
  uint64_t correlation_data;
  int32_t result;
};

/// `context` may be null: no context is current. A nested call (`outer` not null) shares the
/// outer's correlation id.
FAKE_API void fake_enter(FakeCall* call, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                         const void* parameters, const char* symbol, CUcontext context,
                         const FakeCall* outer);
FAKE_API void fake_exit(FakeCall* call, int32_t result);

/// One resource callback, if enabled.
FAKE_API void fake_resource(CUpti_CallbackId id, const CUpti_ResourceData* data);
FAKE_API void fake_fatal_error(const char* message);

/// Adds an activity record to the current buffer; complete ones are delivered by the next flush or
/// fake_deliver(). Records whose kind is not enabled are ignored, unless `foreign`.
FAKE_API void fake_activity(const void* record, size_t size, bool foreign);
FAKE_API void fake_deliver();
/// Requests buffers as long as large ones are given (and then keeps these, as if their work hung).
/// Returns how many.
FAKE_API size_t fake_hold_buffers();
/// The next completed buffer reports this many dropped records.
FAKE_API void fake_drop(size_t count);
/// From now on a flush that is not forced needs this long to deliver the records that it took.
FAKE_API void fake_slow_delivery(unsigned ms);
/// FlushAll blocks until this is called with false.
FAKE_API void fake_block_flush(bool blocked);

/// From now on the handle is dead, or (again) alive, as all are at first. Both libraries abort the
/// program if a dead one is queried, as the real ones would crash.
FAKE_API void fake_set_dead(const void* handle, bool dead);
/// Aborts if the handle is dead; `question` names the function that was called.
FAKE_API void fake_expect_alive(const void* handle, const char* question);

/// The parameters of a function: offset and size of each. All others have the same four.
FAKE_API void fake_set_parameters(CUfunction function, const size_t (*offset_and_size)[2],
                                  size_t count);

/// The result of a query of a stream or an event: not ready, or success.
FAKE_API void fake_set_pending(const void* stream_or_event, bool pending);
/// Queries of streams do not return until this is called with false.
FAKE_API void fake_block_queries(bool blocked);
/// Threads that are in a query of a stream.
FAKE_API unsigned fake_queries_under_way();
/// Calls a function in a thread whose outer frames are in libcuda.
FAKE_API void fake_run_host_function(void (*function)(void*), void* argument);

/// Reports what the collector did.
FAKE_API bool fake_kind_enabled(CUpti_ActivityKind kind);
FAKE_API bool fake_callback_enabled(CUpti_CallbackDomain domain, CUpti_CallbackId id);
FAKE_API unsigned fake_enabled_callbacks();
FAKE_API unsigned fake_flushes(bool forced);
/// Threads that chose the relaxed capture mode so far.
FAKE_API unsigned fake_relaxed_threads();
/// Names of the functions called so far that change something, in order, separated by spaces.
FAKE_API const char* fake_log();
/// The result of the timestamp callback, 0 without one.
FAKE_API uint64_t fake_timestamp();
/// The collector's callback itself, for measuring it.
FAKE_API CUpti_CallbackFunc fake_callback();
