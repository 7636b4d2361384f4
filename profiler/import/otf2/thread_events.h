// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The events of a thread: regions as calls of CUDA or HIP, of NCCL, or as ranges; MPI's collectives
// and messages as calls of communicators.
#pragma once

#include "callbacks.h"
#include "process.h"

namespace streamscope::import::otf2 {

/// What a process knows of its regions and attributes; shared by its threads. Keeps a reference.
class Regions {
 public:
  enum class Kind { kFunction, kMpi, kDeviceCall, kNccl };
  struct Facts {
    Kind kind = Kind::kFunction;
    CallKind call = CallKind::kOther;  ///< kDeviceCall
    std::string_view text;
    Id name = kNoId;    ///< the text as a row
    Id domain = kNoId;  ///< its paradigm
    Id stack = kNoId;   ///< of this one function
  };

  explicit Regions(ProcessRows& process);

  const Facts& of(OTF2_RegionRef region);

  // Attributes of Score-P; OTF2_UNDEFINED_ATTRIBUTE: the archive has none.
  const uint32_t stream_attribute, event_attribute, result_attribute;

 private:
  ProcessRows& process_;
  std::unordered_map<uint32_t, Facts> facts_;
};

/// Thread-compatible.
class ThreadEvents : public Receiver {
 public:
  ThreadEvents(ProcessRows& process, Regions& regions, Id thread)
      : process_(process), regions_(regions), thread_(thread) {}

  /// Lets the reader call this; the caller owns what is returned.
  static OTF2_EvtReaderCallbacks* callbacks();
  /// Adds what was collected.
  void finish();

 private:
  struct Open {
    OTF2_RegionRef region;
    Ns start_ns;
    bool inside_call;  ///< of another call of CUDA or HIP, which stands for both
    uint64_t stream = kUnknownNumber, event = kUnknownNumber, result = kUnknownNumber,
             call_site = kUnknownNumber;
  };
  /// What is requested, or done. Those that end in one call are in the order of their requests.
  struct Message {
    trace::CollectiveCall call;
    Ns posted_ns = 0;
    std::string_view name;  ///< of a collective: the function that requested it
    bool receives = false;
  };

  void enter(uint64_t ticks, OTF2_AttributeList* attributes, OTF2_RegionRef region);
  void leave(uint64_t ticks, OTF2_AttributeList* attributes, OTF2_RegionRef region);
  void parameter(uint64_t, OTF2_AttributeList*, OTF2_ParameterRef parameter, uint64_t value);
  void flush(uint64_t ticks, OTF2_AttributeList*, uint64_t stop_ticks);
  void metric(uint64_t, OTF2_AttributeList*, OTF2_MetricRef, uint8_t, const OTF2_Type*,
              const OTF2_MetricValue*) {
    process_.count_ignored("values of metrics");
  }
  void one_sided(uint64_t, OTF2_AttributeList*, OTF2_RmaWinRef, uint32_t, uint64_t, uint64_t) {
    process_.count_ignored("one-sided communication of threads");
  }
  void send(uint64_t ticks, OTF2_AttributeList*, uint32_t receiver, OTF2_CommRef communicator,
            uint32_t tag, uint64_t bytes);
  void receive(uint64_t ticks, OTF2_AttributeList*, uint32_t sender, OTF2_CommRef communicator,
               uint32_t tag, uint64_t bytes);
  void send_begin(uint64_t ticks, OTF2_AttributeList*, uint32_t receiver, OTF2_CommRef communicator,
                  uint32_t tag, uint64_t bytes, uint64_t request);
  void request_begin(uint64_t ticks, OTF2_AttributeList*, uint64_t request);
  void send_end(uint64_t ticks, OTF2_AttributeList*, uint64_t request);
  void receive_end(uint64_t ticks, OTF2_AttributeList*, uint32_t sender, OTF2_CommRef communicator,
                   uint32_t tag, uint64_t bytes, uint64_t request);
  void collective_begin(uint64_t ticks, OTF2_AttributeList*);
  void collective_end(uint64_t ticks, OTF2_AttributeList*, OTF2_CollectiveOp operation,
                      OTF2_CommRef communicator, uint32_t root, uint64_t sent, uint64_t received);
  void collective_request_end(uint64_t ticks, OTF2_AttributeList*, OTF2_CollectiveOp operation,
                              OTF2_CommRef communicator, uint32_t root, uint64_t sent,
                              uint64_t received, uint64_t request);

  void note_references(Open& open, const OTF2_AttributeList* attributes) const;
  void close(const Open& open, Ns end);
  void add_call(const Open& open, const Regions::Facts& facts, Ns end);
  void add_acts(const Open& open, CallKind kind, Int correlation, Id stream);
  /// The region of MPI that is open; nullptr without one.
  const Open* mpi_region();
  trace::CollectiveCall call_of(std::string_view name, OTF2_CommRef communicator, uint64_t bytes);
  trace::CollectiveCall message_of(std::string_view name, OTF2_CommRef communicator, uint64_t peer,
                                   uint64_t bytes);
  void add_blocking(trace::CollectiveCall call, uint64_t ticks, bool receives);
  void end_messages(Ns end);
  /// Of what was requested at an instant and ends now.
  Ns waited_from(Ns posted_ns);
  void add_completed(Message message, Ns end);
  void add_collective(std::string_view name, OTF2_CommRef communicator, uint64_t sent,
                      uint64_t received, Ns start, Ns end);
  /// Removes it; nothing if it is not known.
  std::optional<Message> take_request(uint64_t request);

  ProcessRows& process_;
  Regions& regions_;
  const Id thread_;
  std::vector<Open> open_;
  Ns collective_start_ns_ = kUnknownNs;
  std::vector<Message> messages_;
  size_t first_of_region_ = 0;                      ///< of the messages whose region has not ended
  std::unordered_map<uint64_t, Message> requests_;  ///< that have not completed
};

}  // namespace streamscope::import::otf2
