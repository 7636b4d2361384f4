// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "objects.h"

#include <algorithm>

namespace streamscope::record {
namespace {

// CU_STREAM_PER_THREAD; CU_STREAM_LEGACY is 1, and 0 means that or this one.
constexpr uint64_t kPerThreadHandle = 2;
constexpr uint64_t kNonBlockingFlag = 1;  // CU_STREAM_NON_BLOCKING

trace::Small small(uint32_t native) {
  return native == ring::kNone32 ? trace::kNoSmall : static_cast<trace::Small>(native);
}

}  // namespace

Stored<trace::Thread>& Objects::known_thread(uint32_t tid) {
  return threads_.get_or_add(tid, [&] {
    return run_.add(
        trace::Thread{.process_id = process_, .os_tid = static_cast<trace::Small>(tid)});
  });
}

trace::Id Objects::thread(uint32_t tid, const std::string& name) {
  Stored<trace::Thread>& thread = known_thread(tid);
  if (thread.row.name_id == trace::kNoId && !name.empty()) {
    thread.row.name_id = run_.writer.intern(name);
    run_.update(thread);
  }
  return thread.id;
}

void Objects::describe(const ring::ThreadRecord& record) {
  Stored<trace::Thread>& thread = known_thread(record.tid);
  trace::Thread& row = thread.row;
  if (record.name != 0 && row.name_id == trace::kNoId) row.name_id = run_.texts.id(record.name);
  if (record.begin != 0 && row.start_ns == trace::kUnknownNs)
    row.start_ns = run_.to_ns(record.begin, record.flags);
  run_.update(thread);
}

trace::Id Objects::device(uint32_t ordinal) {
  return devices_.get_or_add(ordinal, [&] {
    return run_.writer.append(trace::Device{.ordinal = static_cast<trace::Small>(ordinal)});
  });
}

void Objects::describe(const ring::DeviceRecord& record) {
  trace::Device row;
  row.ordinal = static_cast<trace::Small>(record.ordinal);
  row.name_id = run_.texts.id(record.name);
  row.uuid_id = run_.texts.id(record.uuid);
  row.compute_capability = record.compute_capability;
  row.sm_count = static_cast<trace::Small>(record.sm_count);
  row.copy_engines = static_cast<trace::Small>(record.copy_engines);
  if (record.max_connections != 0)
    row.max_connections = static_cast<trace::Small>(record.max_connections);
  row.memory_bytes = static_cast<trace::Int>(record.memory_bytes);
  row.simulated = record.simulated != 0;
  // The same GPU in several processes is one device; every simulator is its own.
  if (devices_.find(record.ordinal) == nullptr && record.uuid != 0 && record.simulated == 0) {
    const trace::Id* known = run_.devices.find(record.uuid);
    if (known != nullptr) devices_.insert_or_assign(record.ordinal, *known);
  }
  const trace::Id id = device(record.ordinal);
  if (record.uuid != 0) run_.devices.insert_or_assign(record.uuid, id);
  run_.writer.update(id, row);
}

Objects::Context& Objects::known_context(uint32_t native) {
  return contexts_.get_or_add(native, [&] {
    return Context{run_.add(
        trace::Context{.process_id = process_, .native_id = static_cast<trace::Small>(native)})};
  });
}

void Objects::describe(const ring::ContextRecord& record) {
  Context& context = known_context(record.context);
  context.row.device_id = device(record.device);
  if (record.begin != 0) context.row.created_ns = run_.to_ns(record.begin, record.flags);
  context.null_stream = record.null_stream;
  run_.update(context);
}

uint32_t Objects::add_stream(const trace::Stream& row) {
  const auto index = static_cast<uint32_t>(streams_.size());
  streams_.push_back(run_.add(row));
  stream_of_row_.insert_or_assign(streams_.back().id, index);
  return index;
}

/// The stream of a lifetime; a new one of unknown kind if the lifetime is new.
uint32_t Objects::life_stream(uint32_t life) {
  stream_of_life_.resize(stream_lives_.size(), kNone);
  if (stream_of_life_[life] == kNone) {
    stream_of_life_[life] =
        add_stream({.handle = static_cast<trace::Int>(stream_lives_[life].handle),
                    .generation = static_cast<trace::Small>(stream_lives_[life].generation),
                    .kind = trace::kUnknownStream});
  }
  return stream_of_life_[life];
}

uint32_t Objects::default_stream(bool per_thread, uint32_t context, uint32_t tid) {
  return default_streams_.get_or_add(pair_key(context, per_thread ? tid : 0), [&] {
    const uint32_t index =
        add_stream({.context_id = this->context(context),
                    .handle = static_cast<trace::Int>(per_thread ? kPerThreadHandle : 0),
                    .generation = 0,
                    .kind = per_thread ? trace::kPerThreadStream : trace::kLegacyStream,
                    .priority = 0,
                    .thread_id = per_thread ? thread(tid) : trace::kNoId});
    if (!per_thread && context != kNone) {
      const uint32_t native = known_context(context).null_stream;
      if (native != kNone) set_native(index, context, native);
    }
    return index;
  });
}

void Objects::set_native(uint32_t stream, uint32_t context, uint32_t native) {
  streams_[stream].row.context_id = this->context(context);
  streams_[stream].row.native_id = small(native);
  native_streams_.insert_or_assign(pair_key(context, native), stream);
  run_.update(streams_[stream]);
}

void Objects::describe(const ring::StreamRecord& record) {
  const bool is_default = record.handle <= kPerThreadHandle;
  uint32_t index = kNone;
  if (is_default) {
    index = default_stream(record.handle == kPerThreadHandle, record.context, record.tid);
  } else if (record.destroyed != 0) {
    index = life_stream(stream_lives_.destroy(record.handle, record.begin, record.begin));
  } else {
    // A handle that was used before its stream became known is not a new stream, unless the number
    // differs.
    uint32_t life = stream_lives_.find(record.handle, record.begin);
    const bool announced = life != HandleLives::kNone && !stream_lives_[life].creation_seen &&
                           stream_lives_[life].destroyed == HandleLives::kNever;
    const trace::Small number =
        announced ? streams_[life_stream(life)].row.native_id : trace::kNoSmall;
    if (!announced || (number != trace::kNoSmall && number != small(record.stream)))
      life = stream_lives_.create_or_join(record.handle, record.begin, record.begin);
    // An activity may have named the stream first, by number only.
    stream_of_life_.resize(stream_lives_.size(), kNone);
    const uint32_t* numbered = native_streams_.find(pair_key(record.context, record.stream));
    if (stream_of_life_[life] == kNone && numbered != nullptr && record.stream != kNone &&
        streams_[*numbered].row.handle == trace::kNoInt) {
      stream_of_life_[life] = *numbered;
      streams_[*numbered].row.handle = static_cast<trace::Int>(record.handle);
      streams_[*numbered].row.generation =
          static_cast<trace::Small>(stream_lives_[life].generation);
    }
    index = life_stream(life);
  }

  trace::Stream& row = streams_[index].row;
  const trace::Ns at =
      record.begin == 0 ? trace::kUnknownNs : run_.to_ns(record.begin, record.flags);
  if (record.destroyed != 0) {
    row.destroyed_ns = at;
  } else {
    row.kind = std::min<trace::Small>(record.stream_kind, trace::kUnknownStream);
    row.priority = record.priority;
    if (row.created_ns == trace::kUnknownNs && row.kind != trace::kUnknownStream)
      row.created_ns = at;
  }
  // Which context is current is not known everywhere where a stream is destroyed.
  if (record.context != kNone) row.context_id = context(record.context);
  if (record.name != 0) row.name_id = run_.texts.id(record.name);
  if (record.stream != kNone) {
    set_native(index, record.context, record.stream);
  } else {
    run_.update(streams_[index]);
  }
}

trace::Id Objects::stream(uint64_t handle, uint8_t flags, uint32_t context, uint32_t tid,
                          uint64_t begin) {
  if (handle <= kPerThreadHandle) {
    const bool per_thread =
        handle == kPerThreadHandle || (handle == 0 && (flags & ring::kPerThread) != 0);
    return streams_[default_stream(per_thread, context, tid)].id;
  }
  // A thread whose virtual clock is behind cannot have received the stream before it was created.
  if ((flags & ring::kVirtualTime) != 0)
    begin = std::max(begin, stream_lives_.first_created(handle));
  const uint32_t index = life_stream(stream_lives_.use(handle, begin));
  if (streams_[index].row.context_id == trace::kNoId && context != kNone) {
    streams_[index].row.context_id = this->context(context);
    run_.update(streams_[index]);
  }
  return streams_[index].id;
}

trace::Id Objects::native_stream(uint32_t context, uint32_t native, bool of_graph_node) {
  if (native == kNone) return trace::kNoId;
  if (const uint32_t* known = native_streams_.find(pair_key(context, native)))
    return streams_[*known].id;
  uint32_t index;
  if (context != kNone && known_context(context).null_stream == native) {
    index = default_stream(false, context, 0);
  } else {
    trace::Stream row;
    row.kind = of_graph_node ? trace::kGraphStream : trace::kUnknownStream;
    index = add_stream(row);
  }
  set_native(index, context, native);
  return streams_[index].id;
}

void Objects::learn_native(trace::Id stream, uint32_t context, uint32_t native) {
  const uint32_t* index = stream_of_row_.find(stream);
  if (index == nullptr || native == kNone || streams_[*index].row.native_id != trace::kNoSmall)
    return;
  if (native_streams_.find(pair_key(context, native)) == nullptr)
    set_native(*index, context, native);
}

trace::Id Objects::create_stream(const ring::CallRecord& call) {
  const uint32_t index =
      life_stream(stream_lives_.create_or_join(call.stream, call.begin, call.end));
  trace::Stream& row = streams_[index].row;
  if (row.context_id == trace::kNoId) row.context_id = context(call.context);
  if (row.kind == trace::kUnknownStream)
    row.kind =
        (call.value & kNonBlockingFlag) != 0 ? trace::kNonBlockingStream : trace::kBlockingStream;
  if (row.priority == trace::kNoSmall) row.priority = static_cast<int32_t>(call.value >> 32);
  if (row.created_ns == trace::kUnknownNs) row.created_ns = run_.to_ns(call.end, call.flags);
  run_.update(streams_[index]);
  return streams_[index].id;
}

trace::Id Objects::destroy_stream(const ring::CallRecord& call) {
  const uint32_t index = life_stream(stream_lives_.destroy(call.stream, call.begin, call.end));
  trace::Stream& row = streams_[index].row;
  if (row.destroyed_ns == trace::kUnknownNs) {
    row.destroyed_ns = run_.to_ns(call.end, call.flags);
    run_.update(streams_[index]);
  }
  return streams_[index].id;
}

uint32_t Objects::life_event(uint32_t life, uint32_t context) {
  if (life < events_.size()) return life;
  events_.push_back({run_.add(trace::Event{
      .process_id = process_,
      .context_id = this->context(context),
      .handle = static_cast<trace::Int>(event_lives_[life].handle),
      .generation = static_cast<trace::Small>(event_lives_[life].generation),
  })});
  return life;
}

uint64_t Objects::complete_since(uint32_t event, uint64_t lost_until) const {
  const HandleLives::Life& life = event_lives_[event];
  if (life.creation_seen) return life.created > lost_until ? 0 : lost_until;
  return std::max<uint64_t>(lost_until, 1);
}

void Objects::create_event(const ring::CallRecord& call) {
  Event& event = events_[life_event(event_lives_.create(call.object, call.end), call.context)];
  event.row.flags = static_cast<trace::Small>(call.value);
  event.row.created_ns = run_.to_ns(call.end, call.flags);
  run_.update(event);
}

void Objects::destroy_event(const ring::CallRecord& call) {
  const uint32_t life = event_lives_.destroy(call.object, call.begin, call.end);
  Event& event = events_[life_event(life, call.context)];
  if (event.row.destroyed_ns == trace::kUnknownNs) {
    event.row.destroyed_ns = run_.to_ns(call.end, call.flags);
    run_.update(event);
  }
}

void Objects::reset(const ring::CallRecord& call) {
  const trace::Id gone = context(call.context);
  const trace::Ns at = run_.to_ns(call.end, call.flags);
  for (uint32_t life = 0; life < stream_lives_.size(); ++life) {
    trace::Stream& row = streams_[life_stream(life)].row;
    if (row.context_id != gone || row.destroyed_ns != trace::kUnknownNs) continue;
    stream_lives_.destroy(stream_lives_[life].handle, call.begin, call.end);
    row.destroyed_ns = at;
    run_.update(streams_[stream_of_life_[life]]);
  }
  for (uint32_t life = 0; life < events_.size(); ++life) {
    trace::Event& row = events_[life].row;
    if (row.context_id != gone || row.destroyed_ns != trace::kUnknownNs) continue;
    event_lives_.destroy(event_lives_[life].handle, call.begin, call.end);
    row.destroyed_ns = at;
    run_.update(events_[life]);
  }
}

void Objects::describe(const ring::NameRecord& record) {
  const trace::Id name = run_.texts.id(record.name);
  switch (static_cast<ring::ObjectKind>(record.object_kind)) {
    case ring::ObjectKind::kThread: {
      Stored<trace::Thread>& thread = known_thread(static_cast<uint32_t>(record.object));
      thread.row.name_id = name;
      run_.update(thread);
      break;
    }
    case ring::ObjectKind::kStream: {
      const trace::Id named = stream(record.object, record.flags, record.context, 0, record.begin);
      const uint32_t index = *stream_of_row_.find(named);
      streams_[index].row.name_id = name;
      run_.update(streams_[index]);
      break;
    }
    case ring::ObjectKind::kEvent: {
      Event& event = events_[this->event(record.object, record.context, record.begin)];
      event.row.name_id = name;
      run_.update(event);
      break;
    }
    default:
      break;  // contexts, devices, domains and categories have no name in the trace
  }
}

void Objects::restore(EarlierRows& rows) {
  rows.each<trace::Thread>(process_, [&](trace::Id id, const trace::Thread& row) {
    threads_.insert_or_assign(static_cast<uint32_t>(row.os_tid), {row, id});
  });
  rows.each<trace::Context>(process_, [&](trace::Id id, const trace::Context& row) {
    contexts_.insert_or_assign(static_cast<uint32_t>(row.native_id), Context{{row, id}});
    const trace::DeviceColumns& devices = rows.trace().device;
    if (row.device_id < devices.size())
      devices_.insert_or_assign(static_cast<uint32_t>(devices.ordinal[row.device_id]),
                                row.device_id);
  });
  restore_streams(rows);
  restore_events(rows);
}

void Objects::restore_streams(EarlierRows& rows) {
  const trace::Trace& trace = rows.trace();
  rows.each<trace::Stream>(process_, [&](trace::Id id, const trace::Stream& row) {
    const auto context = static_cast<uint32_t>(trace.context.native_id[row.context_id]);
    const auto index = static_cast<uint32_t>(streams_.size());
    streams_.push_back({row, id});
    stream_of_row_.insert_or_assign(id, index);
    const bool has_number = row.native_id != trace::kNoSmall;
    const auto number = static_cast<uint32_t>(row.native_id);
    if (has_number) native_streams_.insert_or_assign(pair_key(context, number), index);
    if (row.kind == trace::kLegacyStream) {
      default_streams_.insert_or_assign(pair_key(context, 0), index);
      if (has_number) known_context(context).null_stream = number;
    } else if (row.kind == trace::kPerThreadStream && row.thread_id < trace.thread.size()) {
      const auto tid = static_cast<uint32_t>(trace.thread.os_tid[row.thread_id]);
      default_streams_.insert_or_assign(pair_key(context, tid), index);
    } else if (row.handle != trace::kNoInt) {
      stream_lives_.restore(rows.life(process_, row.handle, row.created_ns, row.destroyed_ns));
      stream_of_life_.push_back(index);
    }
  });
}

void Objects::restore_events(EarlierRows& rows) {
  FlatMap<trace::Id, uint32_t> life_of;  // by row
  rows.each<trace::Event>(process_, [&](trace::Id id, const trace::Event& row) {
    life_of.insert_or_assign(id, event_lives_.restore(rows.life(process_, row.handle,
                                                                row.created_ns, row.destroyed_ns)));
    events_.push_back({{row, id}});
  });
  const bool is_virtual = rows.is_virtual(process_);
  rows.each<trace::EventRecord>(process_, [&](trace::Id id, const trace::EventRecord& row) {
    const uint32_t* life = life_of.find(row.event_id);
    if (life == nullptr || row.result != 0) return;
    Event& event = events_[*life];
    CallSpan span;
    span.begin =
        is_virtual ? static_cast<uint64_t>(row.call_number) : rows.stamp(process_, row.start_ns);
    span.end = is_virtual ? span.begin : rows.stamp(process_, row.end_ns);
    const bool captured = row.flags != trace::kNoSmall && (row.flags & trace::kCapturedRecord) != 0;
    event.history.add({span, id, captured});
    if (!is_virtual) event.history.forget_before(span.begin);
    event.version = std::max(event.version, row.version);
  });
}

}  // namespace streamscope::record
