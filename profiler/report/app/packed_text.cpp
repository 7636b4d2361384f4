// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "packed_text.h"

#include <zlib.h>

#include <array>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace streamscope::report {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t kPackedAtOnce = size_t{1} << 16;

class Base64 {
 public:
  explicit Base64(const std::function<void(std::string_view)>& write) : write_(write) {}

  void add(const unsigned char* bytes, size_t count) {
    text_.clear();
    for (size_t i = 0; i < count; ++i) {
      group_ = group_ << 8 | bytes[i];
      if (++in_group_ == 3) put_group(4);
    }
    write_(text_);
  }
  void finish() {
    text_.clear();
    if (in_group_ > 0) {
      const int digits = in_group_ + 1;
      group_ <<= 8 * (3 - in_group_);
      put_group(digits);
      text_.append(static_cast<size_t>(4 - digits), '=');
    }
    write_(text_);
  }

 private:
  void put_group(int digits) {
    for (int i = 0; i < digits; ++i) text_ += kDigits[group_ >> (18 - 6 * i) & 63];
    group_ = 0;
    in_group_ = 0;
  }

  const std::function<void(std::string_view)>& write_;
  std::string text_;
  uint32_t group_ = 0;
  int in_group_ = 0;
};

constexpr std::array<int8_t, 256> values_of_digits() {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  return values;
}

}  // namespace

std::string from_base64(std::string_view text) {
  static constexpr std::array<int8_t, 256> kValues = values_of_digits();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char digit : text) {
    const int value = kValues[static_cast<unsigned char>(digit)];
    if (value < 0) break;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

void pack_text(const ReadBytes& read, const std::function<void(std::string_view)>& write) {
  constexpr int kGzip = 16, kDefaultMemory = 8;  // as zlib.h describes windowBits and memLevel
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kDefaultMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, ::deflateEnd);
  std::vector<char> in(kPackedAtOnce);
  std::vector<unsigned char> out(kPackedAtOnce);
  Base64 text(write);
  for (size_t got = 1; got > 0;) {
    got = read(in.data(), in.size());
    stream.next_in = reinterpret_cast<unsigned char*>(in.data());
    stream.avail_in = static_cast<unsigned>(got);
    do {
      stream.next_out = out.data();
      stream.avail_out = static_cast<unsigned>(out.size());
      ::deflate(&stream, got == 0 ? Z_FINISH : Z_NO_FLUSH);
      text.add(out.data(), out.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  text.finish();
}

}  // namespace streamscope::report
