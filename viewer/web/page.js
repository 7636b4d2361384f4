// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The page around the viewer: gives it the traces, the size of the window, wheel and clipboard, and keeps in the address
// what is shown. page.cpp is the other side.
"use strict";

(() => {
  const canvas = document.getElementById("canvas");
  const message = document.getElementById("message");
  const say = (text) => {
    message.textContent = text;
    message.hidden = !text;
  };

  async function unpacked(element) {
    const text = atob(element.textContent.trim()), packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    element.remove();  // it may be as large as the trace
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function bytesOf(trace) {
    if (!trace.dataset.url) return unpacked(trace);
    const answer = await fetch(trace.dataset.url);
    if (!answer.ok) throw new Error(`${trace.dataset.url}: status ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  // The place in the address, by options of the viewer: #range=FROM:TO&select=op:12&drawer=findings
  const given = new URLSearchParams(location.hash.slice(1));
  const placeOptions = () => ["range", "select", "drawer", "panel", "theme"]
    .filter((name) => given.get(name)).flatMap((name) => [`--${name}`, given.get(name)]);

  const size = () => {
    const scale = window.devicePixelRatio || 1;
    return { width: Math.round(innerWidth * scale), height: Math.round(innerHeight * scale), scale };
  };

  const scroll = [0, 0];
  const lines = 16, pages = 400, step = 100;  // pixels; a wheel's step is 100 in browsers
  canvas.addEventListener("wheel", (event) => {
    const unit = event.deltaMode === 1 ? lines : event.deltaMode === 2 ? pages : 1;
    scroll[0] -= event.deltaX * unit / step;
    scroll[1] -= event.deltaY * unit / step;
    event.preventDefault();            // also the zoom of the page by a pinch, which arrives as Ctrl and wheel
    event.stopImmediatePropagation();  // Emscripten's GLFW has other units and another sign
  }, { capture: true, passive: false });

  let pasted = "";
  document.addEventListener("paste", (event) => {
    pasted = event.clipboardData.getData("text/plain");
    event.preventDefault();
  });

  const module = {
    canvas,
    page: {
      frameTimes: [],  // the latest, in ms
      drew(ms) {
        module.page.frameTimes.push(ms);
        if (module.page.frameTimes.length > 1000) module.page.frameTimes.shift();
      },
      scale: () => size().scale,
      hasScroll: () => scroll[0] !== 0 || scroll[1] !== 0,
      takeScroll(vertical) {
        const asked = scroll[vertical];
        scroll[vertical] = 0;
        return asked;
      },
      copy(text) {
        pasted = text;
        navigator.clipboard?.writeText(text).catch(() => {});
      },
      pasted: () => pasted,
      showState(text) {
        const state = JSON.parse(text);
        module.page.state = state;
        if (!state.loaded) return;
        const place = new URLSearchParams();
        place.set("range", `${Math.round(state.window.begin_ns)}ns:${Math.round(state.window.end_ns)}ns`);
        if (state.selection) place.set("select", state.selection);
        place.set("drawer", state.drawer || "none");
        if (given.has("panel")) place.set("panel", given.get("panel"));
        if (state.theme !== "dark") place.set("theme", state.theme);
        history.replaceState(null, "", "#" + place.toString().replaceAll("%3A", ":"));
      },
    },
    print: (text) => console.log(text),
    printErr(text) {
      console.error(text);
      if (text.startsWith("streamscope-viewer: ")) say(text);
    },
    onAbort: (why) => say(`The viewer ended: ${why}\nReload the page to open it again.`),
  };
  window.streamscope = module.page;  // for tests and scripts, as --state-file is

  // What the browser would do with keys that the viewer has.
  addEventListener("keydown", (event) => {
    const ctrl = event.ctrlKey || event.metaKey;
    if (ctrl && event.key.toLowerCase() === "o") {
      document.getElementById("files").click();
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if ((ctrl && "pfbjagq=-+".includes(event.key.toLowerCase())) || /^(F1|F3|F6|Tab|Backspace|Alt)$/.test(event.key)) {
      event.preventDefault();
    }
  }, { capture: true });

  async function openFiles(files) {
    for (const file of files) {
      const path = `/traces/${file.name.replaceAll("/", "_")}`;
      module.FS.writeFile(path, new Uint8Array(await file.arrayBuffer()), { canOwn: true });
      module.ccall("streamscope_open", null, ["string"], [path]);
    }
  }
  document.getElementById("files").addEventListener("change", (event) => openFiles(event.target.files));
  for (const name of ["dragover", "drop"]) {
    addEventListener(name, (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      if (name === "drop") openFiles(event.dataTransfer.files);
    }, { capture: true });
  }

  async function start() {
    module.wasmBinary = await unpacked(document.getElementById("code"));
    const traces = [...document.querySelectorAll('script[type="application/vnd.streamscope.trace"]')];
    const contents = await Promise.all(traces.map(bytesOf));
    const { width, height, scale } = size();
    module.arguments = ["--size", `${width}x${height}`, "--scale", `${scale}`, ...placeOptions()];
    module.preRun = [() => {
      module.FS.mkdir("/traces");
      traces.forEach((trace, i) => {
        const part = trace.dataset.part ? ` (${trace.dataset.part})` : "";  // shown with the name
        const path = `/traces/${(trace.dataset.name + part).replaceAll("/", "_")}`;
        module.FS.writeFile(path, contents[i], { canOwn: true });
        if (i < 2) module.arguments.push(path);
      });
    }];
    module.onRuntimeInitialized = () => say("");
    addEventListener("resize", () => {
      const now = size();
      module.setCanvasSize(now.width, now.height);
    });
    addEventListener("hashchange", () => location.reload());
    canvas.focus();
    await startStreamScope(module);
  }
  start().catch((error) => say(`The viewer cannot be opened: ${error.message ?? error}`));
})();
