// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "identity.h"

#include <utility>

namespace streamscope::record {

uint32_t HandleLives::add(const Life& life) {
  const auto index = static_cast<uint32_t>(lives_.size());
  lives_.push_back(life);
  if (life.previous != kNone) lives_[index].generation = lives_[life.previous].generation + 1;
  Ends& ends = ends_.get(life.handle);
  ends.newest = index;
  if (ends.oldest == kNone) ends.oldest = index;
  return index;
}

uint32_t HandleLives::create(uint64_t handle, uint64_t end) {
  if (const uint32_t known = find(handle, end); known != kNone) {
    Life& life = lives_[known];
    if (!life.creation_seen && life.destroyed != kNever && life.destroying >= end) {
      life.creation_seen = true;
      life.created = end;
      return known;
    }
  }
  Life life{.handle = handle, .creation_seen = true, .created = end};
  if (const Ends* ends = ends_.find(handle)) life.previous = ends->newest;
  return add(life);
}

uint32_t HandleLives::create_or_join(uint64_t handle, uint64_t begin, uint64_t end) {
  if (const Ends* ends = ends_.find(handle)) {
    const Life& known = lives_[ends->newest];
    if (known.creation_seen && known.created >= begin && known.created <= end) return ends->newest;
  }
  return create(handle, end);
}

uint64_t HandleLives::first_created(uint64_t handle) const {
  const Ends* ends = ends_.find(handle);
  return ends == nullptr ? 0 : lives_[ends->oldest].created;
}

uint32_t HandleLives::find(uint64_t handle, uint64_t begin) const {
  const Ends* ends = ends_.find(handle);
  if (ends == nullptr) return kNone;
  uint32_t life = ends->newest;
  while (lives_[life].created > begin) {
    if (lives_[life].previous == kNone) return kNone;
    life = lives_[life].previous;
  }
  // Used after it was destroyed: a creation in between was missed.
  return lives_[life].destroyed < begin ? kNone : life;
}

uint32_t HandleLives::use(uint64_t handle, uint64_t begin) {
  if (const uint32_t known = find(handle, begin); known != kNone) return known;
  Life life{.handle = handle};
  Ends* ends = ends_.find(handle);
  if (ends == nullptr) return add(life);
  if (lives_[ends->newest].created <= begin) {
    life.previous = ends->newest;
    return add(life);
  }
  // Older than every life known so far.
  const auto index = static_cast<uint32_t>(lives_.size());
  lives_.push_back(life);
  lives_[std::exchange(ends->oldest, index)].previous = index;
  return index;
}

uint32_t HandleLives::destroy(uint64_t handle, uint64_t begin, uint64_t end) {
  const uint32_t life = use(handle, begin);
  if (lives_[life].destroyed == kNever) {
    lives_[life].destroying = begin;
    lives_[life].destroyed = end;
  }
  return life;
}

uint32_t HandleLives::restore(Life life) {
  if (const Ends* ends = ends_.find(life.handle)) life.previous = ends->newest;
  return add(life);
}

}  // namespace streamscope::record
