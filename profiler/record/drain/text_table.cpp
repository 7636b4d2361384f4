// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "text_table.h"

#include <utility>

#include "trace/function_name.h"

namespace streamscope::record {

trace::Id TextTable::reserve(ring::TextHash hash) {
  ++missing_;
  const trace::Id id = writer_.reserve_string();
  ids_.insert_or_assign(hash, id);
  journal_.add(IdJournal::Kind::kText, trace::kNoId, hash, id);
  return id;
}

const std::string* TextTable::find(ring::TextHash hash) const {
  auto known = texts_.find(hash);
  return known == texts_.end() ? nullptr : &known->second;
}

bool TextTable::add(ring::TextHash hash, std::string&& text) {
  if (ring::hash_text(text) != hash) return false;
  auto [known, is_new] = texts_.try_emplace(hash, std::move(text));
  if (!is_new) return true;
  bool inserted = false;
  trace::Id& id = ids_.get(hash, &inserted);
  if (inserted) {
    id = writer_.intern(trace::demangled(known->second));
    journal_.add(IdJournal::Kind::kText, trace::kNoId, hash, id);
  } else {
    writer_.set_string(id, trace::demangled(known->second));
    --missing_;
  }
  return true;
}

void TextTable::restore(ring::TextHash hash, trace::Id id, bool known) {
  ids_.insert_or_assign(hash, id);
  if (known) {
    texts_.try_emplace(hash);
  } else {
    ++missing_;
  }
}

}  // namespace streamscope::record
