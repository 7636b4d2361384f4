// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the window needs of the web page that it is in; page.js is the other side.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace streamscope::viewer::page {

/// Calls `frame` whenever the browser draws, from when main() has returned; returns at once. It
/// returns whether it drew.
void run(std::function<bool()> frame);
/// Has the next frame drawn. Any thread.
void wake();
/// True if wake() was called since the last call.
bool was_woken();
/// Copies and pastes by the browser's clipboard. Needs an ImGui context.
void connect_clipboard();
/// Calls `open` with each file that the page was given later.
void on_open(std::function<void(const std::string& file)> open);
/// True if the wheel or the touch pad moved since the last take_scroll().
bool has_scroll();
/// Scrolls as far as the wheel or the touch pad asked since the last call, in steps of a wheel.
void take_scroll();
/// Pixels of the canvas for each of the page's; changes with the zoom of the page.
float scale();
/// How much of a file of the page has arrived, from 0 to 1; asking fetches it. Below 0: it is too
/// large for a page, which reads parts of it on demand. Throws Error if it can no longer be read.
/// Any thread.
double arrived(const std::filesystem::path& file);
/// The program has read the file; parts that it reads later may come more slowly.
void release(const std::filesystem::path& file);
/// Keeps in the address what is shown, so that a link leads there.
void show_state(const std::string& state_json);

}  // namespace streamscope::viewer::page
