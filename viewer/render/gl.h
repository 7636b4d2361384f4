// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// OpenGL 3.3 of a desktop and WebGL 2 of a page, as far as they differ.
#pragma once

#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#endif

namespace streamscope::viewer {

#ifdef __EMSCRIPTEN__
/// The version of GLSL that ImGui's renderer is set up with.
inline constexpr const char* kGlsl = "#version 300 es";
/// The order of bytes of a PixelBackground.
inline constexpr GLenum kPixelOrder = GL_RGBA;
#else
inline constexpr const char* kGlsl = "#version 330 core";
inline constexpr GLenum kPixelOrder = GL_BGRA;
#endif

}  // namespace streamscope::viewer
