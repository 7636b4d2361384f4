// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "png.h"

#include <fstream>

#include "trace/error.h"

// Own copy of the few functions used: some systems have the header without the library.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace streamscope::viewer {

void write_png(const Image& image, const std::filesystem::path& file) {
  std::ofstream out(file, std::ios::binary);
  const auto write = [](void* to, void* bytes, int size) {
    static_cast<std::ofstream*>(to)->write(static_cast<const char*>(bytes), size);
  };
  const int made = stbi_write_png_to_func(write, &out, image.width, image.height, 3,
                                          image.rgb.data(), image.width * 3);
  out.close();
  if (made == 0 || !out) {
    throw Error(file.string(), "cannot be written",
                "name a file in a writable folder, and check free disk space");
  }
}

}  // namespace streamscope::viewer
