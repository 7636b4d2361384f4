// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/app/packed_text.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>

namespace streamscope::report {
namespace {

std::string packed(std::string_view bytes) {
  std::string text;
  size_t at = 0;
  pack_text(
      [&](char* into, size_t size) {
        const size_t count = std::min(size, bytes.size() - at);
        std::memcpy(into, bytes.data() + at, count);
        at += count;
        return count;
      },
      [&](std::string_view piece) { text += piece; });
  return text;
}

std::string unpacked(const std::string& gzip) {
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string bytes(1 << 20, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<unsigned>(gzip.size());
  stream.next_out = reinterpret_cast<unsigned char*>(bytes.data());
  stream.avail_out = static_cast<unsigned>(bytes.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  ::inflateEnd(&stream);
  return bytes;
}

TEST(Base64, EndsWhereItsTextDoes) {
  EXPECT_EQ(from_base64(""), "");
  EXPECT_EQ(from_base64("TQ=="), "M");
  EXPECT_EQ(from_base64("TWE="), "Ma");
  EXPECT_EQ(from_base64("TWFu"), "Man");
  EXPECT_EQ(from_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(from_base64("Zm9v</script>Zm9v"), "foo");
}

TEST(PackedText, IsTheSameBytesAgainOfAnyLength) {
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (const size_t length : {0, 1, 2, 3, 255, 65'536, 65'537, 70'000}) {
    const std::string_view some = std::string_view(bytes).substr(0, length);
    EXPECT_EQ(unpacked(from_base64(packed(some))), some) << length;
  }
}

}  // namespace
}  // namespace streamscope::report
