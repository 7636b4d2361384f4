// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "trace/error.h"

namespace streamscope::job {
namespace {

using nlohmann::json;

// Values and marks on the stack, and copies that later parts of the pickle refer to.
class Unpickler {
 public:
  Unpickler(std::string_view bytes, const std::filesystem::path& origin)
      : bytes_(bytes), origin_(origin) {}

  json run() {
    for (;;) {
      const unsigned char code = byte();
      if (code == '.') {
        require(stack_.size() == 1 && marks_.empty());
        return std::move(stack_.back());
      }
      if (!is_scalar(code) && !is_container(code) && !is_reference(code)) refuse();
      require(stack_.size() <= kMostValues);
    }
  }

 private:
  // A small file that refers to a large value again and again must not fill the memory.
  static constexpr size_t kMostValues = 1 << 20, kMostCopied = 64 << 20, kMostCopiedPerByte = 1024;
  static constexpr int kMostDepth = 64;

  [[noreturn]] void refuse() const {
    throw Error(origin_, "is not a pickle of plain values",
                "dump it with PyTorch's flight recorder, as pickle or JSON");
  }
  void require(bool holds) const {
    if (!holds) throw Error(origin_, "is a damaged pickle", "dump it again");
  }

  std::string_view take(size_t size) {
    require(size <= bytes_.size() - at_);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  unsigned char byte() { return static_cast<unsigned char>(take(1)[0]); }
  template <class Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  void push(json value) { stack_.push_back(std::move(value)); }
  json pop() {
    require(stack_.size() > (marks_.empty() ? 0 : marks_.back()));
    json value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }
  json& top() {
    require(stack_.size() > (marks_.empty() ? 0 : marks_.back()));
    return stack_.back();
  }
  json pop_array(size_t count) {
    json array = json::array();
    require(stack_.size() >= (marks_.empty() ? 0 : marks_.back()) + count);
    for (auto at = stack_.end() - static_cast<ptrdiff_t>(count); at != stack_.end(); ++at)
      array.push_back(std::move(*at));
    stack_.resize(stack_.size() - count);
    return array;
  }
  json pop_marked() {
    require(!marks_.empty() && marks_.back() <= stack_.size());
    json array = pop_array(stack_.size() - marks_.back());
    marks_.pop_back();
    return array;
  }

  bool is_scalar(unsigned char code) {
    switch (code) {
      case 0x80:
        require(byte() <= 5);
        return true;  // the protocol
      case 0x95:
        (void)number<uint64_t>();
        return true;  // a frame
      case 'N':
        push(nullptr);
        return true;
      case 0x88:
        push(true);
        return true;
      case 0x89:
        push(false);
        return true;
      case 'K':
        push(number<uint8_t>());
        return true;
      case 'M':
        push(number<uint16_t>());
        return true;
      case 'J':
        push(number<int32_t>());
        return true;
      case 0x8a:
        push_long();
        return true;
      case 'G':
        push(std::bit_cast<double>(__builtin_bswap64(number<uint64_t>())));
        return true;
      case 0x8c:
        push(std::string(take(byte())));
        return true;
      case 'X':
        push(std::string(take(number<uint32_t>())));
        return true;
      default:
        return false;
    }
  }
  // Little-endian, in as few bytes as it needs.
  void push_long() {
    const std::string_view digits = take(byte());
    require(digits.size() <= sizeof(int64_t));
    uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push(static_cast<int64_t>(value));
  }

  bool is_container(unsigned char code) {
    switch (code) {
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case ')':
      case ']':
        push(json::array());
        return true;
      case '}':
        push(json::object());
        return true;
      case 't':
        push(pop_marked());
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        push(pop_array(code - 0x84u));
        return true;
      case 'a':
        append(pop_array(1));
        return true;
      case 'e':
        append(pop_marked());
        return true;
      case 's':
        set(pop_array(2));
        return true;
      case 'u':
        set(pop_marked());
        return true;
      default:
        return false;
    }
  }
  void append(json items) {
    require(top().is_array());
    for (json& item : items) top().push_back(std::move(item));
  }
  void set(json items) {
    require(top().is_object() && items.size() % 2 == 0);
    for (size_t i = 0; i < items.size(); i += 2) {
      const json& key = items[i];
      require(key.is_string() || key.is_number_integer());
      top()[key.is_string() ? key.get<std::string>() : key.dump()] = std::move(items[i + 1]);
    }
  }

  bool is_reference(unsigned char code) {
    switch (code) {
      case 'q':
        remember(byte());
        return true;
      case 'r':
        remember(number<uint32_t>());
        return true;
      case 0x94:
        remember(static_cast<uint32_t>(memo_.size()));
        return true;
      case 'h':
        recall(byte());
        return true;
      case 'j':
        recall(number<uint32_t>());
        return true;
      default:
        return false;
    }
  }
  // PyTorch remembers a container when it is complete.
  void remember(uint32_t key) {
    count_copy(top());
    memo_[key] = top();
  }
  void recall(uint32_t key) {
    const auto known = memo_.find(key);
    require(known != memo_.end());
    count_copy(known->second);
    push(known->second);
  }
  void count_copy(const json& value, int depth = 0) {
    require(depth < kMostDepth);
    copied_ += value.is_string() ? value.get_ref<const std::string&>().size() + 8 : 8;
    require(copied_ <= std::min(kMostCopied, kMostCopiedPerByte * bytes_.size()));
    if (value.is_structured()) {
      for (const json& part : value) count_copy(part, depth + 1);
    }
  }

  std::string_view bytes_;
  const std::filesystem::path& origin_;
  size_t at_ = 0, copied_ = 0;
  std::vector<json> stack_;
  std::vector<size_t> marks_;
  std::map<uint32_t, json> memo_;
};

}  // namespace

json read_pickle(std::string_view bytes, const std::filesystem::path& origin) {
  return Unpickler(bytes, origin).run();
}

}  // namespace streamscope::job
