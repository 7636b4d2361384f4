// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "page.h"

#include <emscripten.h>
#include <imgui.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "trace/error.h"
#include "window/app.h"

// Functions of page.js are members of Module.page.
EM_JS(double, page_scale, (), { return Module.page.scale(); });
EM_JS(double, page_scroll, (int vertical), { return Module.page.takeScroll(vertical); });
EM_JS(void, page_drew, (double ms), { Module.page.drew(ms); });
EM_JS(int, page_has_scroll, (), { return Module.page.hasScroll(); });
EM_JS(void, page_release, (const char* file), { Module.page.release(UTF8ToString(file)); });
EM_JS(void, page_show_state, (const char* json), { Module.page.showState(UTF8ToString(json)); });
EM_JS(void, page_copy, (const char* text), { Module.page.copy(UTF8ToString(text)); });
EM_JS(char*, page_paste, (), { return stringToNewUTF8(Module.page.pasted()); });

namespace streamscope::viewer::page {
namespace {

std::function<bool()> each_frame;
std::function<void(const std::string&)> opened;
std::string pasted;
std::atomic<bool> is_woken;

}  // namespace

void run(std::function<bool()> frame) {
  each_frame = std::move(frame);
  emscripten_set_main_loop(
      [] {
        const double begin = emscripten_get_now();
        if (each_frame()) page_drew(emscripten_get_now() - begin);
      },
      0, false);
}

void wake() { is_woken = true; }

bool was_woken() { return is_woken.exchange(false); }

void connect_clipboard() {
  ImGuiIO& io = ImGui::GetIO();
  io.SetClipboardTextFn = [](void*, const char* text) { page_copy(text); };
  io.GetClipboardTextFn = [](void*) {
    char* const text = page_paste();
    pasted = text;
    std::free(text);
    return pasted.c_str();
  };
}

void on_open(std::function<void(const std::string& file)> open) { opened = std::move(open); }

bool has_scroll() { return page_has_scroll() != 0; }

void take_scroll() {
  ImGuiIO& io = ImGui::GetIO();
  io.MouseWheelH += static_cast<float>(page_scroll(0));
  io.MouseWheel += static_cast<float>(page_scroll(1));
}

float scale() { return static_cast<float>(page_scale()); }

double arrived(const std::filesystem::path& file) {
  const double share =
      MAIN_THREAD_EM_ASM_DOUBLE({ return Module.page.arrived(UTF8ToString($0)); }, file.c_str());
  if (std::isnan(share))
    throw Error(file, "the server no longer has it as it was",
                "start streamscope view --serve again, or reload the page");
  return share;
}

void release(const std::filesystem::path& file) { page_release(file.c_str()); }

void show_state(const std::string& state_json) { page_show_state(state_json.c_str()); }

}  // namespace streamscope::viewer::page

namespace streamscope::viewer {

void run_screenshot(const Arguments&) {
  throw Error("--screenshot", "draws nothing in a page", "take a picture of the page");
}

}  // namespace streamscope::viewer

extern "C" EMSCRIPTEN_KEEPALIVE void streamscope_open(const char* file) {
  if (streamscope::viewer::page::opened) streamscope::viewer::page::opened(file);
}
