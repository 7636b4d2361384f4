// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "identity.h"

namespace streamscope::record {

uint32_t HandleLives::add(uint64_t handle, uint64_t created, uint32_t previous) {
  const auto life = static_cast<uint32_t>(lives_.size());
  const uint32_t generation = previous == kNone ? 0 : lives_[previous].generation + 1;
  lives_.push_back({handle, created, kNever, generation, previous});
  newest_.insert_or_assign(handle, life);
  return life;
}

uint32_t HandleLives::create(uint64_t handle, uint64_t begin, uint64_t end) {
  const uint32_t* newest = newest_.find(handle);
  if (newest == nullptr) return add(handle, end, kNone);
  const Life& life = lives_[*newest];
  if (life.created != 0 && life.created >= begin && life.created <= end) return *newest;
  return add(handle, end, *newest);
}

uint32_t HandleLives::find(uint64_t handle, uint64_t begin) const {
  const uint32_t* newest = newest_.find(handle);
  if (newest == nullptr) return kNone;
  uint32_t life = *newest;
  while (lives_[life].created > begin) {
    if (lives_[life].previous == kNone) return kNone;
    life = lives_[life].previous;
  }
  // Used after it was destroyed: a creation in between was not seen.
  return lives_[life].destroyed < begin ? kNone : life;
}

uint32_t HandleLives::use(uint64_t handle, uint64_t begin, bool* is_new) {
  const uint32_t known = find(handle, begin);
  *is_new = known == kNone;
  if (known != kNone) return known;
  const uint32_t* newest = newest_.find(handle);
  if (newest == nullptr || lives_[*newest].created <= begin)
    return add(handle, 0, newest == nullptr ? kNone : *newest);
  // Older than every life known so far.
  uint32_t oldest = *newest;
  while (lives_[oldest].previous != kNone) oldest = lives_[oldest].previous;
  const auto life = static_cast<uint32_t>(lives_.size());
  lives_.push_back({handle});
  lives_[oldest].previous = life;
  return life;
}

uint32_t HandleLives::destroy(uint64_t handle, uint64_t begin, uint64_t end, bool* is_new) {
  const uint32_t life = use(handle, begin, is_new);
  if (lives_[life].destroyed == kNever) lives_[life].destroyed = end;
  return life;
}

}  // namespace streamscope::record
