// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Traces as files of the program: bytes that the page has, or a file of the server, of which it reads what is asked for.
"use strict";

// The program's memory is one of signed bytes, into which others are copied faster by a view of their own kind.
function copyBytes(part, into, offset) {
  new Uint8Array(into.buffer, into.byteOffset + offset, part.length).set(part);
}

class HeldFile {
  // `isOverview`: the bytes are those of a trace that was reduced to its overview.
  constructor(bytes, isOverview = false) {
    this.bytes = bytes;
    this.isOverview = isOverview;
  }
  get size() { return this.bytes.length; }
  // Of the whole file, how much is here: from 0 to 1; below 0: it will never be; NaN: it cannot be read.
  arrived() { return this.isOverview ? -1 : 1; }
  // Copies up to `length` bytes at `position` to into[offset...], and says how many.
  read(into, offset, length, position) {
    const part = this.bytes.subarray(position, position + length);
    copyBytes(part, into, offset);
    return part.length;
  }
  release() {}
}

// Reads block by block while the program waits, so that a large trace is seen at once; then fetches the whole, which is
// faster, until the program has it.
class ServedFile {
  static block = 1 << 18;
  static mostAtOnce = 8;   // blocks: 2 MiB
  static mostKept = 64;    // blocks: 16 MiB
  static ends = 12;        // blocks at the end, where what an overview needs was written last
  static mostWhole = 1e9;  // bytes: with what is made of them, as much as a page can hold

  constructor(url, size) {
    this.url = url;
    this.size = size;
    this.blocks = new Map();      // by number, the latest used last
    this.first = this.last = -2;  // the latest that were asked for at once
    this.ahead = 1;               // so many
    this.tag = null;              // of the content that was read first
    this.whole = null;
    this.fetched = null;          // bytes so far
  }

  // Gets both ends of the file while the page has other work, so that the program need not wait for them.
  async prepare() {
    const count = Math.ceil(this.size / ServedFile.block), tail = Math.max(count - ServedFile.ends, 1);
    await Promise.all([[0, 1], [tail, count]]
      .filter(([first, end]) => first < end && first * ServedFile.block < this.size).map(async ([first, end]) => {
      const begin = first * ServedFile.block, bytes = Math.min(end * ServedFile.block, this.size) - begin;
      const answer = await fetch(this.url, { headers: { Range: `bytes=${begin}-${begin + bytes - 1}` } });
      if (answer.status !== 206) throw new Error(`${this.url}: status ${answer.status}`);
      this.check(answer.headers.get("ETag"));
      this.keep(first, new Uint8Array(await answer.arrayBuffer()));
    }));
    return this;
  }

  // Bytes from the beginning of a block on.
  keep(first, bytes) {
    for (let at = 0; at < bytes.length; at += ServedFile.block)
      this.blocks.set(first + at / ServedFile.block, bytes.slice(at, at + ServedFile.block));
  }

  arrived() {
    if (this.size > ServedFile.mostWhole) return -1;
    if (this.whole) return 1;
    if (this.fetched === null) {
      this.fetch().catch((error) => {
        console.log(error.message);
        this.fetched = NaN;
      });
    }
    return Math.min(this.fetched / this.size, 0.999);
  }

  async fetch() {
    this.fetched = 0;
    const answer = await fetch(this.url);
    if (!answer.ok) throw new Error(`${this.url}: status ${answer.status}`);
    this.check(answer.headers.get("ETag"));
    const whole = new Uint8Array(this.size), reader = answer.body.getReader();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (this.fetched + piece.value.length > this.size) throw new Error(`${this.url}: is longer than it was`);
      whole.set(piece.value, this.fetched);
      this.fetched += piece.value.length;
    }
    if (this.fetched !== this.size) throw new Error(`${this.url}: ended after ${this.fetched} of ${this.size} bytes`);
    this.whole = whole;
    this.blocks.clear();
  }

  // The program has read all of it; what it asks for later is read again.
  release() {
    this.whole = null;
    this.fetched = null;
  }

  read(into, offset, length, position) {
    const end = Math.min(position + length, this.size);
    if (this.whole) {
      copyBytes(this.whole.subarray(position, end), into, offset);
      return Math.max(end - position, 0);
    }
    for (let at = position; at < end;) {
      const number = Math.floor(at / ServedFile.block), within = at - number * ServedFile.block;
      const part = this.block(number).subarray(within, within + end - at);
      copyBytes(part, into, offset + at - position);
      at += part.length;
    }
    return Math.max(end - position, 0);
  }

  block(number) {
    let block = this.blocks.get(number);
    if (block) {
      this.blocks.delete(number);
    } else {
      // A reader that goes on, or back, gets more at once.
      const goesOn = number === this.last + 1, goesBack = number === this.first - 1;
      this.ahead = goesOn || goesBack ? Math.min(2 * this.ahead, ServedFile.mostAtOnce) : 1;
      this.first = goesBack ? Math.max(number - this.ahead + 1, 0) : number;
      const begin = this.first * ServedFile.block;
      const end = Math.min(goesBack ? (number + 1) * ServedFile.block : begin + this.ahead * ServedFile.block, this.size);
      const bytes = this.ask(begin, end);
      this.last = this.first + Math.ceil(bytes.length / ServedFile.block) - 1;
      this.keep(this.first, bytes);
      block = this.blocks.get(number);
      this.blocks.delete(number);
    }
    this.blocks.set(number, block);
    while (this.blocks.size > ServedFile.mostKept) this.blocks.delete(this.blocks.keys().next().value);
    return block;
  }

  // Waits for the answer, which only a request of this old kind does; it has no bytes, but characters that stand for them.
  ask(begin, end) {
    const request = new XMLHttpRequest();
    request.open("GET", this.url, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.setRequestHeader("Range", `bytes=${begin}-${end - 1}`);
    request.send();
    if (request.status !== 206) throw new Error(`${this.url}: status ${request.status}`);
    this.check(request.getResponseHeader("ETag"));
    const text = request.responseText;
    if (text.length !== end - begin) throw new Error(`${this.url}: ${text.length} instead of ${end - begin} bytes`);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  check(tag) {
    this.tag ??= tag;
    if (this.tag !== tag) throw new Error(`${this.url}: changed since it was opened; reload the page`);
  }
}

// Lets the program read `file` at `path` of its file system.
function placeFile(FS, path, file, report) {
  const node = FS.create(path, 0o444);
  Object.defineProperty(node, "usedBytes", { get: () => file.size });
  node.stream_ops = {
    ...node.stream_ops,
    read(stream, buffer, offset, length, position) {
      try {
        return file.read(buffer, offset, length, position);
      } catch (error) {
        report(error.message);
        throw new FS.ErrnoError(29);  // EIO
      }
    },
  };
}
