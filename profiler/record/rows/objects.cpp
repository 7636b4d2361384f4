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

trace::Id Objects::thread(uint32_t tid) {
  const uint32_t index = threads_.get_or_add(tid, [&] {
    trace::Thread row;
    row.process_id = process_;
    row.os_tid = static_cast<trace::Small>(tid);
    thread_rows_.emplace_back(run_.writer.append(row), row);
    return static_cast<uint32_t>(thread_rows_.size() - 1);
  });
  return thread_rows_[index].first;
}

trace::Id Objects::thread(uint32_t tid, const std::string& name) {
  const trace::Id id = thread(tid);
  trace::Thread& row = thread_rows_[*threads_.find(tid)].second;
  if (row.name_id == trace::kNoId && !name.empty()) {
    row.name_id = run_.writer.intern(name);
    run_.writer.update(id, row);
  }
  return id;
}

void Objects::describe(const ring::ThreadRecord& record) {
  thread(record.tid);
  auto& [id, row] = thread_rows_[*threads_.find(record.tid)];
  if (record.name != 0 && row.name_id == trace::kNoId) row.name_id = run_.texts.id(record.name);
  if (record.begin != 0 && row.start_ns == trace::kUnknownNs)
    row.start_ns = run_.to_ns(record.begin, record.flags);
  run_.writer.update(id, row);
}

trace::Id Objects::device(uint32_t ordinal) {
  return devices_.get_or_add(ordinal, [&] {
    trace::Device row;
    row.ordinal = static_cast<trace::Small>(ordinal);
    return run_.writer.append(row);
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
  return context_rows_[contexts_.get_or_add(native, [&] {
    Context context;
    context.row.process_id = process_;
    context.row.native_id = static_cast<trace::Small>(native);
    context.id = run_.writer.append(context.row);
    context_rows_.push_back(context);
    return static_cast<uint32_t>(context_rows_.size() - 1);
  })];
}

trace::Id Objects::context(uint32_t native) {
  return native == kNone ? trace::kNoId : known_context(native).id;
}

void Objects::describe(const ring::ContextRecord& record) {
  Context& context = known_context(record.context);
  context.row.device_id = device(record.device);
  if (record.begin != 0) context.row.created_ns = run_.to_ns(record.begin, record.flags);
  context.null_stream = record.null_stream;
  run_.writer.update(context.id, context.row);
}

uint32_t Objects::add_stream(const trace::Stream& row) {
  const auto index = static_cast<uint32_t>(streams_.size());
  const trace::Id id = run_.writer.append(row);
  streams_.push_back({row, id});
  stream_of_row_.insert_or_assign(id, index);
  return index;
}

/// The stream of a lifetime; a new one of unknown kind if the lifetime is new.
uint32_t Objects::life_stream(uint32_t life) {
  stream_of_life_.resize(stream_lives_.size(), kNone);
  if (stream_of_life_[life] == kNone) {
    trace::Stream row;
    row.handle = static_cast<trace::Int>(stream_lives_[life].handle);
    row.generation = static_cast<trace::Small>(stream_lives_[life].generation);
    row.kind = trace::kUnknownStream;
    stream_of_life_[life] = add_stream(row);
  }
  return stream_of_life_[life];
}

uint32_t Objects::default_stream(bool per_thread, uint32_t context, uint32_t tid) {
  return default_streams_.get_or_add(pair_key(context, per_thread ? tid : 0), [&] {
    trace::Stream row;
    row.context_id = this->context(context);
    row.handle = static_cast<trace::Int>(per_thread ? kPerThreadHandle : 0);
    row.generation = 0;
    row.kind = per_thread ? trace::kPerThreadStream : trace::kLegacyStream;
    row.priority = 0;
    if (per_thread) row.thread_id = thread(tid);
    const uint32_t index = add_stream(row);
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
  update_stream(stream);
}

void Objects::describe(const ring::StreamRecord& record) {
  const bool is_default = record.handle <= kPerThreadHandle;
  uint32_t index = kNone;
  if (is_default) {
    index = default_stream(record.handle == kPerThreadHandle, record.context, record.tid);
  } else if (record.destroyed != 0) {
    bool is_new = false;
    const uint32_t life = stream_lives_.destroy(record.handle, record.begin, record.begin, &is_new);
    index = life_stream(life);
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
  row.context_id = context(record.context);
  if (record.name != 0) row.name_id = run_.texts.id(record.name);
  if (record.stream != kNone) {
    set_native(index, record.context, record.stream);
  } else {
    update_stream(index);
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
  bool is_new = false;
  const uint32_t life = stream_lives_.use(handle, begin, &is_new);
  const uint32_t index = life_stream(life);
  if (streams_[index].row.context_id == trace::kNoId && context != kNone) {
    streams_[index].row.context_id = this->context(context);
    update_stream(index);
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
  update_stream(index);
  return streams_[index].id;
}

trace::Id Objects::destroy_stream(const ring::CallRecord& call) {
  bool is_new = false;
  const uint32_t index =
      life_stream(stream_lives_.destroy(call.stream, call.begin, call.end, &is_new));
  trace::Stream& row = streams_[index].row;
  if (row.destroyed_ns == trace::kUnknownNs) {
    row.destroyed_ns = run_.to_ns(call.end, call.flags);
    update_stream(index);
  }
  return streams_[index].id;
}

uint32_t Objects::life_event(uint32_t life, uint32_t context) {
  if (life < events_.size()) return life;
  Event event;
  event.row.process_id = process_;
  event.row.context_id = this->context(context);
  event.row.handle = static_cast<trace::Int>(event_lives_[life].handle);
  event.row.generation = static_cast<trace::Small>(event_lives_[life].generation);
  event.id = run_.writer.append(event.row);
  events_.push_back(std::move(event));
  return life;
}

uint32_t Objects::event(uint64_t handle, uint32_t context, uint64_t begin) {
  bool is_new = false;
  return life_event(event_lives_.use(handle, begin, &is_new), context);
}

uint64_t Objects::complete_since(uint32_t event, uint64_t lost_until) const {
  const HandleLives::Life& life = event_lives_[event];
  if (life.creation_seen) return life.created > lost_until ? 0 : lost_until;
  return std::max<uint64_t>(lost_until, 1);
}

uint32_t Objects::create_event(const ring::CallRecord& call) {
  const uint32_t index = life_event(event_lives_.create(call.object, call.end), call.context);
  Event& event = events_[index];
  event.row.flags = static_cast<trace::Small>(call.value);
  event.row.created_ns = run_.to_ns(call.end, call.flags);
  run_.writer.update(event.id, event.row);
  return index;
}

uint32_t Objects::destroy_event(const ring::CallRecord& call) {
  bool is_new = false;
  const uint32_t life = event_lives_.destroy(call.object, call.begin, call.end, &is_new);
  const uint32_t index = life_event(life, call.context);
  Event& event = events_[index];
  if (event.row.destroyed_ns == trace::kUnknownNs) {
    event.row.destroyed_ns = run_.to_ns(call.end, call.flags);
    run_.writer.update(event.id, event.row);
  }
  return index;
}

void Objects::reset(const ring::CallRecord& call) {
  const trace::Id gone = context(call.context);
  const trace::Ns at = run_.to_ns(call.end, call.flags);
  bool is_new = false;
  for (uint32_t life = 0; life < stream_lives_.size(); ++life) {
    trace::Stream& row = streams_[life_stream(life)].row;
    if (row.context_id != gone || row.destroyed_ns != trace::kUnknownNs) continue;
    stream_lives_.destroy(stream_lives_[life].handle, call.begin, call.end, &is_new);
    row.destroyed_ns = at;
    update_stream(stream_of_life_[life]);
  }
  for (uint32_t life = 0; life < events_.size(); ++life) {
    trace::Event& row = events_[life].row;
    if (row.context_id != gone || row.destroyed_ns != trace::kUnknownNs) continue;
    event_lives_.destroy(event_lives_[life].handle, call.begin, call.end, &is_new);
    row.destroyed_ns = at;
    run_.writer.update(events_[life].id, row);
  }
}

void Objects::describe(const ring::NameRecord& record) {
  const trace::Id name = run_.texts.id(record.name);
  switch (static_cast<ring::ObjectKind>(record.object_kind)) {
    case ring::ObjectKind::kThread: {
      thread(static_cast<uint32_t>(record.object));
      auto& [id, row] = thread_rows_[*threads_.find(static_cast<uint32_t>(record.object))];
      row.name_id = name;
      run_.writer.update(id, row);
      break;
    }
    case ring::ObjectKind::kStream: {
      const trace::Id named = stream(record.object, record.flags, record.context, 0, record.begin);
      const uint32_t index = *stream_of_row_.find(named);
      streams_[index].row.name_id = name;
      update_stream(index);
      break;
    }
    case ring::ObjectKind::kEvent: {
      Event& event = events_[this->event(record.object, record.context, record.begin)];
      event.row.name_id = name;
      run_.writer.update(event.id, event.row);
      break;
    }
    default:
      break;  // contexts, devices, domains and categories have no name in the trace
  }
}

}  // namespace streamscope::record
