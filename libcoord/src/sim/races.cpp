// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sim/races.h"

#include <algorithm>
#include <atomic>

namespace coord::sim {

void Past::add(std::uint32_t number) {
  const std::size_t word = number / 64;
  if (word >= bits_.size()) bits_.resize(word + 1);
  bits_[word] |= std::uint64_t{1} << number % 64;
}

void Past::add(const Past& other) {
  if (other.bits_.size() > bits_.size()) bits_.resize(other.bits_.size());
  for (std::size_t i = 0; i < other.bits_.size(); ++i) bits_[i] |= other.bits_[i];
}

bool Past::contains(std::uint32_t number) const {
  const std::size_t word = number / 64;
  return word < bits_.size() && (bits_[word] >> number % 64 & 1) != 0;
}

Past& Races::actor_past(std::size_t actor) {
  if (actor >= actors_.size()) actors_.resize(actor + 1);
  return actors_[actor];
}

void Races::submitted(std::size_t actor, OpRef op, std::span<const OpRef> after) {
  Known& known = ops_[op.serial];
  known.number = next_number_++;
  known.past = actor_past(actor);
  for (const OpRef other : after) {
    if (other.serial != 0) known.after.push_back(other.serial);
  }
}

std::optional<std::string> Races::performed(const Op& op, const std::string& text) {
  Known& known = ops_[op.serial];
  for (const std::uint64_t serial : known.after) {
    const Known& other = ops_[serial];
    known.past.add(other.past);
    known.past.add(other.number);
  }
  known.after.clear();
  if (op.kind == OpKind::kMemoryWrite) {
    Word& word = words_[op.address];
    word.past.add(known.past);
    word.past.add(known.number);
    word.value = op.value;
  } else if (op.address != nullptr) {  // waited for a value written by operations or a host thread
    const Word& word = words_[op.address];
    known.past.add(word.past);
    if (std::atomic_ref<std::uint64_t>(*op.address).load() != word.value) {
      for (const Past& actor : actors_) known.past.add(actor);
    }
  }
  for (const Access& access : op.accesses) {
    if (auto race = touch(access, known.number, known.past, text)) return race;
  }
  return std::nullopt;
}

void Races::enters(std::size_t actor, OpRef op) { actor_past(actor) = ops_[op.serial].past; }

void Races::leaves(std::size_t actor, OpRef op) {
  Known& known = ops_[op.serial];
  known.past.add(actor_past(actor));
  actor_past(actor).add(known.number);
}

void Races::seen(std::size_t actor, std::span<const OpRef> ops) {
  Past& past = actor_past(actor);
  for (const OpRef op : ops) {
    if (op.serial == 0) continue;
    const Known& known = ops_[op.serial];
    past.add(known.past);
    past.add(known.number);
  }
}

void Races::follows_all(std::size_t actor) {
  Past all;
  for (const Past& past : actors_) all.add(past);
  actor_past(actor).add(all);
}

void Races::started(std::size_t parent, std::size_t child) {
  const Past past = actor_past(parent);
  actor_past(child) = past;
}

std::optional<std::string> Races::accessed(std::size_t actor, const Access& access,
                                           const std::string& text) {
  const std::uint32_t number = next_number_++;
  auto race = touch(access, number, actor_past(actor), text);
  actor_past(actor).add(number);
  return race;
}

std::optional<std::string> Races::touch(const Access& access, std::uint32_t number,
                                        const Past& past, const std::string& text) {
  for (const Touched& other : touched_) {
    const std::uintptr_t begin = std::max(access.address, other.access.address);
    const std::uintptr_t end =
        std::min(access.address + access.bytes, other.access.address + other.access.bytes);
    if (begin >= end || (!access.writes && !other.access.writes) || other.number == number ||
        past.contains(other.number)) {
      continue;
    }
    const auto verb = [](const Access& what) { return what.writes ? " writes" : " reads"; };
    return "race: " + other.text + verb(other.access) + " and " + text + verb(access) +
           " the same " + std::to_string(end - begin) + " bytes, and nothing orders them";
  }
  touched_.push_back({access, number, text});
  return std::nullopt;
}

}  // namespace coord::sim
