// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "thread_events.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "vocabulary/collective_kind.h"

namespace streamscope::import::otf2 {
namespace {

// By paradigm, where the archive gives no name.
std::string_view paradigm_name(const Definitions& definitions, OTF2_Paradigm paradigm) {
  const auto known = definitions.paradigms.find(paradigm);
  if (known != definitions.paradigms.end()) return known->second;
  switch (paradigm) {
    case OTF2_PARADIGM_USER:
      return "user";
    case OTF2_PARADIGM_COMPILER:
      return "compiler";
    case OTF2_PARADIGM_OPENMP:
      return "OpenMP";
    case OTF2_PARADIGM_MPI:
      return "MPI";
    default:
      return "";
  }
}

Regions::Kind kind_of(const Region& region) {
  if (region.name.starts_with("nccl") && collective_kind(region.name) != CollectiveKind::kOther)
    return Regions::Kind::kNccl;
  if (region.paradigm == OTF2_PARADIGM_MPI || region.name.starts_with("MPI_"))
    return Regions::Kind::kMpi;
  const bool is_call =
      (region.paradigm == OTF2_PARADIGM_CUDA || region.paradigm == OTF2_PARADIGM_HIP) &&
      region.role != OTF2_REGION_ROLE_ARTIFICIAL;
  // Tools without these paradigms at least write the functions' names.
  const bool is_named = (region.name.starts_with("cuda") || region.name.starts_with("hip")) &&
                        call_kind(without_version(region.name)) != CallKind::kOther;
  return is_call || is_named ? Regions::Kind::kDeviceCall : Regions::Kind::kFunction;
}

// By OTF2_CollectiveOp; what comes later creates and destroys communicators and the like.
std::string_view name_of(OTF2_CollectiveOp operation) {
  static constexpr std::string_view kNames[] = {"MPI_Barrier",
                                                "MPI_Bcast",
                                                "MPI_Gather",
                                                "MPI_Gatherv",
                                                "MPI_Scatter",
                                                "MPI_Scatterv",
                                                "MPI_Allgather",
                                                "MPI_Allgatherv",
                                                "MPI_Alltoall",
                                                "MPI_Alltoallv",
                                                "MPI_Alltoallw",
                                                "MPI_Allreduce",
                                                "MPI_Reduce",
                                                "MPI_Reduce_scatter",
                                                "MPI_Scan",
                                                "MPI_Exscan",
                                                "MPI_Reduce_scatter_block"};
  return operation < std::size(kNames) ? kNames[operation] : "MPI collective";
}

std::optional<trace::OpKind> work_of(CallKind call) {
  switch (call) {
    case CallKind::kLaunch:
      return trace::kKernel;
    case CallKind::kMemcpy:
    case CallKind::kMemcpyAsync:
      return trace::kMemcpy;
    case CallKind::kMemset:
    case CallKind::kMemsetAsync:
      return trace::kMemset;
    default:
      return std::nullopt;
  }
}

}  // namespace

Regions::Regions(ProcessRows& process)
    : stream_attribute(attribute_named(process.definitions(), "CUDA_STREAM_REF")),
      event_attribute(attribute_named(process.definitions(), "CUDA_EVENT_REF")),
      result_attribute(attribute_named(process.definitions(), "CUDA_DRV_API_RESULT")),
      process_(process) {}

const Regions::Facts& Regions::of(OTF2_RegionRef reference) {
  const auto [known, is_new] = facts_.try_emplace(reference);
  Facts& facts = known->second;
  if (!is_new) return facts;
  Assembly& assembly = process_.assembly();
  const auto defined = process_.definitions().regions.find(reference);
  const bool is_known = defined != process_.definitions().regions.end();
  const Region region = is_known ? defined->second : Region{.name = "undefined region"};
  facts.text = region.name;
  facts.kind = kind_of(region);
  if (facts.kind == Kind::kDeviceCall) {
    facts.name = assembly.name_call(region.name);
    facts.call = call_kind(without_version(region.name));
    return facts;
  }
  facts.name = assembly.intern(region.name);
  const std::string_view domain = paradigm_name(process_.definitions(), region.paradigm);
  if (!domain.empty()) facts.domain = assembly.intern(domain);
  if (facts.kind != Kind::kFunction) return facts;
  std::string symbol(region.name);
  if (!region.file.empty() && region.line > 0)
    symbol.append(" ").append(region.file).append(":").append(std::to_string(region.line));
  facts.stack = assembly.stacks().push(kNoId, {.symbol = assembly.intern(symbol)});
  return facts;
}

OTF2_EvtReaderCallbacks* ThreadEvents::callbacks() {
  using To = ThreadEvents;
  OTF2_EvtReaderCallbacks* const to = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetEnterCallback(to, forward_event<&To::enter>);
  OTF2_EvtReaderCallbacks_SetLeaveCallback(to, forward_event<&To::leave>);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(to, forward_event<&To::parameter>);
  OTF2_EvtReaderCallbacks_SetBufferFlushCallback(to, forward_event<&To::flush>);
  OTF2_EvtReaderCallbacks_SetMetricCallback(to, forward_event<&To::metric>);
  OTF2_EvtReaderCallbacks_SetRmaPutCallback(to, forward_event<&To::one_sided>);
  OTF2_EvtReaderCallbacks_SetRmaGetCallback(to, forward_event<&To::one_sided>);
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(to, forward_event<&To::send>);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(to, forward_event<&To::receive>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(to, forward_event<&To::send_begin>);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(to, forward_event<&To::send_end>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(to, forward_event<&To::request_begin>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(to, forward_event<&To::receive_end>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(to, forward_event<&To::collective_begin>);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(to, forward_event<&To::collective_end>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      to, forward_event<&To::request_begin>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(
      to, forward_event<&To::collective_request_end>);
  return to;
}

// ---- Regions ----

void ThreadEvents::note_references(Open& open, const OTF2_AttributeList* attributes) const {
  if (!attributes || OTF2_AttributeList_GetNumberOfElements(attributes) == 0) return;
  const auto note = [&](uint64_t& number, uint32_t attribute, OTF2_Type type) {
    if (const uint64_t value = number_of(attributes, attribute, type); value != kUnknownNumber)
      number = value;
  };
  note(open.stream, regions_.stream_attribute, OTF2_TYPE_LOCATION);
  note(open.event, regions_.event_attribute, OTF2_TYPE_UINT64);
  note(open.result, regions_.result_attribute, OTF2_TYPE_UINT32);
}

void ThreadEvents::enter(uint64_t ticks, OTF2_AttributeList* attributes, OTF2_RegionRef region) {
  const auto at = process_.time(ticks);
  if (!at) return;
  const bool inside =
      !open_.empty() && (open_.back().inside_call ||
                         regions_.of(open_.back().region).kind == Regions::Kind::kDeviceCall);
  open_.push_back({region, *at, inside});
  note_references(open_.back(), attributes);
}

void ThreadEvents::leave(uint64_t ticks, OTF2_AttributeList* attributes, OTF2_RegionRef region) {
  constexpr size_t kMostMissing = 64;  // ends of inner regions
  const auto at = process_.time(ticks);
  if (!at) return;
  size_t missing = 0;
  while (missing < std::min(open_.size(), kMostMissing) &&
         open_[open_.size() - 1 - missing].region != region)
    ++missing;
  if (missing == std::min(open_.size(), kMostMissing)) return process_.count_invalid();
  process_.count_invalid(missing);
  for (; missing > 0; --missing) {
    close(open_.back(), *at);
    open_.pop_back();
  }
  note_references(open_.back(), attributes);
  close(open_.back(), *at);
  open_.pop_back();
}

void ThreadEvents::parameter(uint64_t, OTF2_AttributeList*, OTF2_ParameterRef parameter,
                             uint64_t value) {
  if (parameter == process_.call_site_parameter() && !open_.empty()) open_.back().call_site = value;
}

void ThreadEvents::flush(uint64_t ticks, OTF2_AttributeList*, uint64_t stop_ticks) {
  const auto start = process_.time(ticks), end = process_.time(stop_ticks);
  if (!start || !end || *end < *start) return;
  process_.assembly().add(trace::Overhead{.process_id = process_.id(),
                                          .thread_id = thread_,
                                          .name_id = process_.assembly().intern("buffer flush"),
                                          .start_ns = *start,
                                          .end_ns = *end});
}

void ThreadEvents::close(const Open& open, Ns end) {
  if (end < open.start_ns) return process_.count_invalid();
  const Regions::Facts& facts = regions_.of(open.region);
  Assembly& assembly = process_.assembly();
  if (facts.kind == Regions::Kind::kDeviceCall) {
    if (!open.inside_call) add_call(open, facts, end);
    return;
  }
  assembly.add(trace::Range{.thread_id = thread_,
                            .kind = trace::kPushPop,
                            .domain_id = facts.domain,
                            .name_id = facts.name,
                            .start_ns = open.start_ns,
                            .end_ns = end});
  switch (facts.kind) {
    case Regions::Kind::kMpi:
      end_messages(end);
      break;
    case Regions::Kind::kNccl:
      assembly.add(trace::CollectiveCall{
          .thread_id = thread_, .name_id = facts.name, .start_ns = open.start_ns, .end_ns = end});
      break;
    default:
      assembly.add(Function{
          .start_ns = open.start_ns, .end_ns = end, .thread = thread_, .stack = facts.stack});
      break;
  }
}

void ThreadEvents::add_call(const Open& open, const Regions::Facts& facts, Ns end) {
  Call call{.start_ns = open.start_ns,
            .end_ns = end,
            .correlation = process_.next_correlation(),
            .thread = thread_,
            .name = facts.name};
  if (open.result != kUnknownNumber) call.result = static_cast<Small>(open.result);
  process_.assembly().add(call);
  const Id stream = open.stream == kUnknownNumber ? kNoId : process_.find_stream(open.stream);
  if (const auto work = work_of(facts.call)) {
    process_.issuers().add({.kind = *work,
                            .start_ns = open.start_ns,
                            .correlation = call.correlation,
                            .stream = stream,
                            .call_site = open.call_site});
  }
  add_acts(open, facts.call, call.correlation, stream);
}

// A CUDA event is named by its address, which is unique in the process.
void ThreadEvents::add_acts(const Open& open, CallKind kind, Int correlation, Id stream) {
  const bool names_event = open.event != kUnknownNumber;
  if (!names_event && stream == kNoId) return;
  Act act{.process = process_.id(), .correlation = correlation, .stream = stream};
  if (names_event) act.event = static_cast<Int>(open.event);
  switch (kind) {
    case CallKind::kEventRecord:
      return process_.assembly().add_record(act);
    case CallKind::kStreamWait:
    case CallKind::kEventQuery:
    case CallKind::kEventSynchronize:
    case CallKind::kStreamQuery:
    case CallKind::kStreamSynchronize:
      return process_.assembly().add_look(act);
    default:
      return;
  }
}

// ---- MPI ----

const ThreadEvents::Open* ThreadEvents::mpi_region() {
  return !open_.empty() && regions_.of(open_.back().region).kind == Regions::Kind::kMpi
             ? &open_.back()
             : nullptr;
}

trace::CollectiveCall ThreadEvents::call_of(std::string_view name, OTF2_CommRef communicator,
                                            uint64_t bytes) {
  const Membership membership = process_.membership(communicator);
  trace::CollectiveCall call{.thread_id = thread_,
                             .name_id = process_.assembly().intern(name),
                             .communicator_id = membership.name,
                             .rank_count = membership.size,
                             .rank = membership.rank};
  constexpr uint64_t kMostBytes = uint64_t{1} << 60;
  if (bytes > 0 && bytes < kMostBytes) call.bytes = static_cast<Int>(bytes);
  return call;
}

trace::CollectiveCall ThreadEvents::message_of(std::string_view name, OTF2_CommRef communicator,
                                               uint64_t peer, uint64_t bytes) {
  trace::CollectiveCall call = call_of(name, communicator, bytes);
  if (peer <= static_cast<uint64_t>(std::numeric_limits<Small>::max()))
    call.peer = static_cast<Small>(peer);
  return call;
}

// Lasts as long as the function of MPI; its end is set when that returns.
void ThreadEvents::add_blocking(trace::CollectiveCall call, uint64_t ticks, bool receives) {
  const auto at = process_.time(ticks);
  if (!at) return;
  const Open* const region = mpi_region();
  call.start_ns = region ? region->start_ns : *at;
  call.end_ns = region ? kUnknownNs : *at;
  messages_.push_back({call, *at, {}, receives});
}

// A function that sends and receives, such as MPI_Sendrecv or MPI_Waitall, waits to receive: small
// messages are sent at once.
void ThreadEvents::end_messages(Ns end) {
  const auto own = std::span(messages_).subspan(first_of_region_);
  const bool receive = std::ranges::any_of(own, &Message::receives);
  for (Message& message : own) {
    if (receive && !message.receives) message.call.end_ns = message.call.start_ns;
    if (message.call.end_ns == kUnknownNs) message.call.end_ns = end;
  }
  first_of_region_ = messages_.size();
}

void ThreadEvents::send(uint64_t ticks, OTF2_AttributeList*, uint32_t receiver,
                        OTF2_CommRef communicator, uint32_t, uint64_t bytes) {
  add_blocking(message_of("MPI_Send", communicator, receiver, bytes), ticks, false);
}

void ThreadEvents::receive(uint64_t ticks, OTF2_AttributeList*, uint32_t sender,
                           OTF2_CommRef communicator, uint32_t, uint64_t bytes) {
  add_blocking(message_of("MPI_Recv", communicator, sender, bytes), ticks, true);
}

void ThreadEvents::send_begin(uint64_t ticks, OTF2_AttributeList*, uint32_t receiver,
                              OTF2_CommRef communicator, uint32_t, uint64_t bytes,
                              uint64_t request) {
  if (const auto at = process_.time(ticks))
    requests_[request] = {message_of("MPI_Isend", communicator, receiver, bytes), *at, {}, false};
}

// Of a receive or a collective, about which the archive says more when it has completed.
void ThreadEvents::request_begin(uint64_t ticks, OTF2_AttributeList*, uint64_t request) {
  const auto at = process_.time(ticks);
  if (!at) return;
  const Open* const region = mpi_region();
  requests_[request] = {.posted_ns = *at,
                        .name = region ? regions_.of(region->region).text : std::string_view()};
}

std::optional<ThreadEvents::Message> ThreadEvents::take_request(uint64_t request) {
  const auto known = requests_.find(request);
  if (known == requests_.end()) {
    process_.count_invalid();
    return std::nullopt;
  }
  const Message message = known->second;
  requests_.erase(known);
  return message;
}

// A rank takes part from when it waits: before, it does other work.
Ns ThreadEvents::waited_from(Ns posted_ns) {
  const Open* const region = mpi_region();
  return region ? std::max(region->start_ns, posted_ns) : posted_ns;
}

void ThreadEvents::add_completed(Message message, Ns end) {
  message.call.start_ns = waited_from(message.posted_ns);
  message.call.end_ns = std::max(end, message.call.start_ns);
  messages_.push_back(message);
}

void ThreadEvents::send_end(uint64_t ticks, OTF2_AttributeList*, uint64_t request) {
  const auto at = process_.time(ticks);
  if (!at) return;
  if (const auto message = take_request(request)) add_completed(*message, *at);
}

void ThreadEvents::receive_end(uint64_t ticks, OTF2_AttributeList*, uint32_t sender,
                               OTF2_CommRef communicator, uint32_t, uint64_t bytes,
                               uint64_t request) {
  const auto at = process_.time(ticks);
  if (!at) return;
  if (const auto posted = take_request(request))
    add_completed(
        {message_of("MPI_Irecv", communicator, sender, bytes), posted->posted_ns, {}, true}, *at);
}

void ThreadEvents::collective_begin(uint64_t ticks, OTF2_AttributeList*) {
  if (const auto at = process_.time(ticks)) collective_start_ns_ = *at;
}

void ThreadEvents::collective_end(uint64_t ticks, OTF2_AttributeList*, OTF2_CollectiveOp operation,
                                  OTF2_CommRef communicator, uint32_t, uint64_t sent,
                                  uint64_t received) {
  const auto at = process_.time(ticks);
  const Ns start = std::exchange(collective_start_ns_, kUnknownNs);
  if (!at) return;
  const Open* const region = mpi_region();
  add_collective(region ? regions_.of(region->region).text : name_of(operation), communicator, sent,
                 received, start == kUnknownNs ? waited_from(*at) : start, *at);
}

void ThreadEvents::collective_request_end(uint64_t ticks, OTF2_AttributeList*,
                                          OTF2_CollectiveOp operation, OTF2_CommRef communicator,
                                          uint32_t, uint64_t sent, uint64_t received,
                                          uint64_t request) {
  const auto at = process_.time(ticks);
  if (!at) return;
  if (const auto posted = take_request(request)) {
    add_collective(posted->name.empty() ? name_of(operation) : posted->name, communicator, sent,
                   received, waited_from(posted->posted_ns), *at);
  }
}

// Where all ranks get the same, the archive says of the root what it sends to each of them.
void ThreadEvents::add_collective(std::string_view name, OTF2_CommRef communicator, uint64_t sent,
                                  uint64_t received, Ns start, Ns end) {
  const bool same_for_all = collective_kind(name) == CollectiveKind::kBroadcast;
  trace::CollectiveCall call =
      call_of(name, communicator, same_for_all && received > 0 ? received : sent);
  if (call.rank_count == 1) return;  // nobody waits for anybody
  call.start_ns = start;
  call.end_ns = std::max(start, end);
  process_.assembly().add(call);
}

void ThreadEvents::finish() {
  Assembly& assembly = process_.assembly();
  uint64_t calls = 0;
  for (const Open& open : open_) {
    const Regions::Facts& facts = regions_.of(open.region);
    if (facts.kind == Regions::Kind::kDeviceCall) {
      ++calls;
    } else {
      assembly.add(trace::Range{.thread_id = thread_,
                                .kind = trace::kPushPop,
                                .domain_id = facts.domain,
                                .name_id = facts.name,
                                .start_ns = open.start_ns});
    }
  }
  if (calls > 0) process_.count_ignored("calls that had not returned at the end", calls);
  if (!requests_.empty())
    process_.count_ignored("requests of MPI that did not complete", requests_.size());
  std::ranges::stable_sort(messages_, {}, [](const Message& message) {
    return std::pair(message.call.start_ns, message.posted_ns);
  });
  for (const Message& message : messages_) assembly.add(message.call);
}

}  // namespace streamscope::import::otf2
