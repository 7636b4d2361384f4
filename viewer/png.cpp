// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "png.h"

#include "trace/error.h"

// Own copy of the few functions used: the system's library is not everywhere where the header is.
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace streamscope::viewer {

void write_png(const Image& image, const std::filesystem::path& file) {
  if (stbi_write_png(file.c_str(), image.width, image.height, 3, image.rgb.data(),
                     image.width * 3) == 0) {
    throw Error(file.string(), "cannot be written",
                "name a file in a folder that exists and is writable");
  }
}

}  // namespace streamscope::viewer
