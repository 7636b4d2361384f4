// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

namespace streamscope::record {

trace::Id Stacks::id(uint32_t low_hash) {
  if (low_hash == 0) return trace::kNoId;
  return stacks_.get_or_add(low_hash, [&] {
    return run_.writer.append(
        trace::Stack{.process_id = process_, .hash = low_hash, .frame_count = 0});
  });
}

const ring::ModuleRecord* Stacks::module_of(uint64_t address) const {
  // The newest mapping counts.
  for (auto module = modules_.rbegin(); module != modules_.rend(); ++module) {
    if (address >= module->begin_address && address < module->end_address) return &*module;
  }
  return nullptr;
}

void Stacks::describe(uint64_t hash, const std::vector<Frame>& frames) {
  bool is_new = false;
  described_.get(hash, &is_new);
  if (!is_new) return;
  const trace::Id stack = id(static_cast<uint32_t>(hash));
  run_.writer.update(stack, trace::Stack{.process_id = process_,
                                         .hash = static_cast<trace::Int>(hash),
                                         .frame_count = static_cast<trace::Small>(frames.size())});
  for (size_t depth = 0; depth < frames.size(); ++depth) {
    const auto [value, is_text] = frames[depth];
    trace::StackFrame frame{.stack_id = stack,
                            .depth = static_cast<trace::Small>(depth),
                            .kind = is_text ? trace::kPythonFrame : trace::kNativeFrame};
    if (is_text) {
      frame.symbol_id = run_.texts.id(value);
      run_.writer.append(frame);
      continue;
    }
    frame.address = static_cast<trace::Int>(value);
    if (const ring::ModuleRecord* module = module_of(value)) {
      frame.address = static_cast<trace::Int>(value - module->base);
      frame.module_id = run_.texts.id(module->path);
    }
    frames_.push_back({run_.writer.append(frame), frame, value, "", false});
  }
}

trace::Id Stacks::add(const std::vector<SeenFrame>& frames) {
  const trace::Id stack = run_.writer.append(trace::Stack{
      .process_id = process_, .frame_count = static_cast<trace::Small>(frames.size())});
  for (size_t depth = 0; depth < frames.size(); ++depth) {
    const SeenFrame& seen = frames[depth];
    trace::StackFrame frame{.stack_id = stack,
                            .depth = static_cast<trace::Small>(depth),
                            .kind = trace::kNativeFrame,
                            .address = static_cast<trace::Int>(seen.address)};
    if (!seen.module.empty()) frame.module_id = run_.writer.intern(seen.module);
    if (!seen.symbol.empty()) frame.symbol_id = run_.writer.intern(seen.symbol);
    run_.writer.append(frame);
  }
  return stack;
}

trace::Id Stacks::sampled(const SampledStack& stack) {
  return sampled_.get_or_add(stack.hash, [&] {
    const trace::Id id = run_.writer.append(
        trace::Stack{.process_id = process_,
                     .hash = static_cast<trace::Int>(stack.hash),
                     .frame_count = static_cast<trace::Small>(stack.frames.size())});
    for (size_t depth = 0; depth < stack.frames.size(); ++depth) {
      const SampledFrame& seen = stack.frames[depth];
      trace::StackFrame row{.stack_id = id,
                            .depth = static_cast<trace::Small>(depth),
                            .kind = seen.is_python() ? trace::kPythonFrame : trace::kNativeFrame};
      if (seen.is_python()) {
        row.symbol_id = run_.writer.intern(seen.text);
        run_.writer.append(row);
        continue;
      }
      row.address = static_cast<trace::Int>(seen.address);
      if (!seen.module.empty()) row.module_id = run_.writer.intern(seen.module);
      const trace::Id frame = run_.writer.append(row);
      if (!seen.module.empty()) frames_.push_back({frame, row, 0, seen.module, true});
    }
    return id;
  });
}

void Stacks::finish() {
  int64_t unnamed = 0;
  std::vector<CodePlace> places;
  places.reserve(frames_.size());
  size_t kept = 0;
  for (NativeFrame& frame : frames_) {
    std::string path = frame.module_path;
    if (path.empty()) {
      const ring::ModuleRecord* module = module_of(frame.address);
      const std::string* text = module == nullptr ? nullptr : run_.texts.find(module->path);
      if (text == nullptr) {
        ++unnamed;
        continue;
      }
      path = *text;
      frame.row.address = static_cast<trace::Int>(frame.address - module->base);
      frame.row.module_id = run_.texts.id(module->path);
    }
    // Outer frames contain return addresses; the call is just before.
    const uint64_t address =
        static_cast<uint64_t>(frame.row.address) - (frame.row.depth > 0 && !frame.exact ? 1 : 0);
    places.push_back({std::move(path), address});
    std::swap(frames_[kept++], frame);
  }
  const std::vector<std::optional<std::string>> names = run_.code_names.look_up(places);
  for (size_t i = 0; i < kept; ++i) {
    NativeFrame& frame = frames_[i];
    const std::optional<std::string>& name = names[i];
    if (!name) {
      ++unnamed;
    } else if (!name->empty()) {
      frame.row.symbol_id = run_.writer.intern(*name);
    }
    run_.writer.update(frame.id, frame.row);
  }
  frames_.clear();
  if (unnamed > 0) run_.losses.add(process_, "stack-unreadable", unnamed);
}

void Stacks::restore(EarlierRows& rows) {
  rows.each<trace::Stack>(process_, [&](trace::Id id, const trace::Stack& row) {
    stacks_.insert_or_assign(static_cast<uint32_t>(row.hash), id);
    if (row.frame_count > 0) described_.get(static_cast<uint64_t>(row.hash)) = 1;
  });
  rows.each<trace::StackFrame>(process_, [&](trace::Id id, const trace::StackFrame& row) {
    const std::string_view module = rows.trace().text(row.module_id);
    if (row.kind == trace::kNativeFrame && row.symbol_id == trace::kNoId && !module.empty())
      frames_.push_back({id, row, 0, std::string(module), false});
  });
}

}  // namespace streamscope::record
