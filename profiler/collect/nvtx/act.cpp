// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/nvtx/act.h"

#include "collect/process/memory.h"

namespace streamscope::collect {
namespace {

constexpr size_t kMaxTextBytes = 4096;

// What nvtxDomainHandle_t and nvtxStringHandle_t point to.
struct Name {
  size_t bytes;
  char text[1];  // variable length
};

Name* new_name(std::string_view text) {
  auto* name = static_cast<Name*>(permanent_memory(sizeof(Name) + text.size()));
  if (name == nullptr) return nullptr;
  name->bytes = text.size();
  std::memcpy(name->text, text.data(), text.size());
  name->text[text.size()] = '\0';
  return name;
}

}  // namespace

void* keep_text(const void* owner, std::optional<void*> others, std::string_view text) {
  Name* name = new_name(text);
  void* const handle = others.value_or(name);
  if (has_other_tool() && name != nullptr && handle != nullptr)
    keep_for_handle(owner, handle, name);
  return handle;
}

std::string_view text_of(const void* owner, const void* handle) {
  if (handle != nullptr && has_other_tool()) handle = kept_for_handle(owner, handle);
  const auto* name = static_cast<const Name*>(handle);
  return name != nullptr ? std::string_view(name->text, name->bytes) : std::string_view();
}
std::string_view name_of_domain(const void* domain) { return text_of(&kNoOwner, domain); }

std::string_view bounded(const char* text) {
  return text != nullptr ? std::string_view(text, ::strnlen(text, kMaxTextBytes))
                         : std::string_view();
}

}  // namespace streamscope::collect
