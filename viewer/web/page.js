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

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  async function packed(element) {
    if (!element.dataset.url) return new Blob([bytesOf(element.textContent.trim())]).stream();
    const answer = await fetch(element.dataset.url);
    if (!answer.ok) throw new Error(`${element.dataset.url}: status ${answer.status}`);
    return answer.body;
  }
  async function unpacked(element) {
    const stream = await packed(element);
    element.remove();  // it may be as large as the trace
    return new Uint8Array(await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  }

  const fileOf = async (trace) => trace.dataset.url
    ? new ServedFile(trace.dataset.url, Number(trace.dataset.bytes)).prepare() : new HeldFile(await unpacked(trace), "overview" in trace.dataset);
  const files = new Map();  // of the program, by path
  const plain = (name) => /^\.{0,2}$/.test(name) ? "_" : name.replaceAll("/", "_");
  const filesOf = (path) => [...files].filter(([name]) => name === path || name.startsWith(path + "/")).map(([, file]) => file);
  // Traces of one name lie in folders of their own.
  function freePath(name) {
    let folder = "/traces";
    for (let i = 2; module.FS.analyzePath(`${folder}/${name}`).exists; ++i) {
      folder = `/traces/${i}`;
      if (!module.FS.analyzePath(folder).exists) module.FS.mkdir(folder);
    }
    return `${folder}/${name}`;
  }
  function place(path, file) {
    files.set(path, file);
    placeFile(module.FS, path, file, say);
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
  const pinch = 5;  // fingers move less than a wheel, and what is below them should stay there
  let ctrlIsDown = false;
  for (const name of ["keydown", "keyup"])
    addEventListener(name, (event) => { ctrlIsDown = event.ctrlKey; }, { capture: true });
  canvas.addEventListener("wheel", (event) => {
    // A pinch arrives as the wheel with Ctrl, but without its key.
    const unit = event.ctrlKey && !ctrlIsDown ? pinch : event.deltaMode === 1 ? lines : event.deltaMode === 2 ? pages : 1;
    scroll[0] -= event.deltaX * unit / step;
    scroll[1] -= event.deltaY * unit / step;
    event.preventDefault();            // also the zoom of the page by a pinch
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
      // A file, or those of a run.
      arrived: (path) => Math.min(1, ...filesOf(path).map((file) => file.arrived())),
      release: (path) => filesOf(path).forEach((file) => file.release()),
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
      const path = `/traces/${plain(file.name)}`;
      if (module.FS.analyzePath(path).exists) module.FS.unlink(path);
      place(path, new HeldFile(new Uint8Array(await file.arrayBuffer())));
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

  // A worker for each thread of the program. Browsers give threads only to pages that a server isolates.
  function makeWorkersOf(worker) {
    const addressOf = (script) => URL.createObjectURL(new Blob([script.textContent], { type: "text/javascript" }));
    const address = addressOf(worker);
    module.locateFile = () => address;
    module.mainScriptUrlOrBlob = addressOf(document.getElementById("program"));
  }

  // Of the viewer and what is compiled into it, in place of the viewer.
  async function showLicenses() {
    const text = document.createElement("pre");
    text.textContent = new TextDecoder().decode(await unpacked(document.getElementById("licenses")));
    document.body.replaceChildren(text);
  }

  async function start() {
    addEventListener("hashchange", () => location.reload());
    if (given.has("licenses")) return showLicenses();
    const worker = document.getElementById("worker");
    if (worker && !window.crossOriginIsolated) return location.replace("plain/" + location.hash);
    if (worker) makeWorkersOf(worker);
    const code = unpacked(document.getElementById("code"));
    const traces = [...document.querySelectorAll('script[type="application/vnd.streamscope.trace"]')];
    const opened = await Promise.all(traces.map(fileOf));
    module.wasmBinary = await code;
    const { width, height, scale } = size();
    module.arguments = ["--size", `${width}x${height}`, "--scale", `${scale}`, ...placeOptions()];
    module.preRun = [() => {
      module.FS.mkdir("/traces");
      const shown = new Set();
      traces.forEach((trace, i) => {
        const { name, run, part } = trace.dataset;
        if (run) {
          const folder = `/traces/${plain(run)}`;
          if (!module.FS.analyzePath(folder).exists) module.FS.mkdir(folder);
          place(`${folder}/${plain(name)}`, opened[i]);
          shown.add(folder);
        } else {
          const path = freePath(plain(part ? `${name} (${part})` : name));  // the name is shown
          place(path, opened[i]);
          shown.add(path);
        }
      });
      module.arguments.push(...[...shown].slice(0, 2));
    }];
    module.onRuntimeInitialized = () => say("");
    addEventListener("resize", () => {
      const now = size();
      module.setCanvasSize(now.width, now.height);
    });
    canvas.focus();
    await startStreamScope(module);
  }
  start().catch((error) => say(`The viewer cannot be opened: ${error.message ?? error}`));
})();
