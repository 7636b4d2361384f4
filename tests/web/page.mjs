// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the viewer's page in headless Chromium, with traces inside, and compares and uses it.
//   node page.mjs pictures PAGE VIEWER RUN TRACE...  every panel on every trace and on a run, as the native viewer draws it
//   node page.mjs input PAGE TRACE OTHER             wheel, touch pad, drag, click, keys, search, SQL, clipboard, a dropped file, a link, zoom
//   node page.mjs served ADDRESS                     what `view --serve` serves: an overview from parts of the file, then all of it
//   node page.mjs threads ADDRESS                    the same of a page with threads, and that it does without where it is not isolated
//   node page.mjs overview FILE                      a page with a trace that was reduced to its overview
//   node page.mjs whole FILE                         a page with traces inside: opens, and nothing in it acts as part of the page
// Prints what is wrong and exits 1; exits 77 without a browser.
import {spawnSync} from 'node:child_process';
import {copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {gzipSync} from 'node:zlib';

const skip = why => { console.log('skipped: ' + why); process.exit(77); };
let chromium;
try {
  const folder = process.env.STREAMSCOPE_PLAYWRIGHT || process.cwd();
  ({chromium} = createRequire(path.join(folder, 'x.js'))('playwright-core'));
} catch {
  skip('playwright-core is not installed (npm install playwright-core; name its folder in STREAMSCOPE_PLAYWRIGHT)');
}
const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!executablePath) skip('no Chromium');
const [, , what, page_file, ...words] = process.argv;
if (!page_file.startsWith('http:') && !existsSync(page_file)) skip(`no ${page_file} (./dev web makes it)`);

const wrong = [];
const expect = (text, good) => { if (!good) { wrong.push(text); console.log('wrong: ' + text); } };
const folder = mkdtempSync(path.join(tmpdir(), 'streamscope-page-'));
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});

function element(trace, run = '') {
  const bytes = readFileSync(trace);
  return `<script type="application/vnd.streamscope.trace" data-name="${path.basename(trace)}"${run} data-bytes="${bytes.length}">` +
    gzipSync(bytes).toString('base64') + '</script>';
}

// The page with traces inside, or those of a run, as `streamscope report --format app` writes it.
function with_traces(...traces) {
  const file = path.join(folder, path.basename(traces[0]) + `-${traces.length}.html`);
  const elements = traces.map(trace => statSync(trace).isDirectory()
    ? readdirSync(trace).filter(name => name.endsWith('.sqlite')).map(name => element(path.join(trace, name), ` data-run="${path.basename(trace)}"`)).join('')
    : element(trace)).join('');
  writeFileSync(file, readFileSync(page_file, 'utf8').replace('<!-- streamscope: traces -->', elements));
  return 'file://' + file;
}

async function new_page(width, height, more = {}) {
  const page = await browser.newPage({viewport: {width, height}, ...more});
  page.on('console', message => { if (message.type() === 'error') expect('console: ' + message.text(), false); });
  page.on('pageerror', error => expect('error: ' + error.message, false));
  page.on('request', request => expect('asks for ' + request.url(), /^(file|data|blob):/.test(request.url()) || (page_file.startsWith('http:') && request.url().startsWith(page_file))));
  return page;
}

const state = page => page.evaluate(() => window.streamscope.state);
const settled = page => page.waitForTimeout(250);
async function open(page, address) {
  await page.goto('about:blank');
  await page.goto(address);
  await page.waitForFunction(() => window.streamscope?.state?.loaded, null, {timeout: 60000});
  await settled(page);
}
async function becomes(page, text, good) {
  for (let i = 0; i < 100; ++i) {
    if (good(await state(page))) return true;
    await page.waitForTimeout(50);
  }
  expect(text + ': ' + JSON.stringify(await state(page)), false);
  return false;
}

// Share of the blocks of pixels with a different mean color, as tests/viewer_e2e/golden_picture_test.cpp compares.
function difference(images) {
  const block = 8, different = 28;
  return Promise.all(images.map(async data => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height), to = canvas.getContext('2d');
    to.drawImage(image, 0, 0);
    return to.getImageData(0, 0, image.width, image.height);
  })).then(([a, b]) => {
    if (a.width !== b.width || a.height !== b.height) return 1;
    let blocks = 0, other = 0;
    for (let top = 0; top + block <= a.height; top += block) {
      for (let left = 0; left + block <= a.width; left += block) {
        const sums = [0, 0, 0];
        for (let y = top; y < top + block; ++y)
          for (let x = left; x < left + block; ++x)
            for (let c = 0; c < 3; ++c) sums[c] += a.data[(y * a.width + x) * 4 + c] - b.data[(y * a.width + x) * 4 + c];
        ++blocks;
        if (sums.some(sum => Math.abs(sum) > different * block * block)) ++other;
      }
    }
    return other / blocks;
  });
}

async function pictures() {
  const [viewer, run, ...traces] = words;
  const most = 0.004, width = 760, height = 460;
  const panels = ['timeline', 'inspector', 'diagnosis', 'findings', 'graph', 'pools', 'deadlocks', 'statistics', 'sql', 'compare'];
  const cases = traces.flatMap((trace, i) => panels.map(panel => [panel, panel === 'compare' ? [trace, traces[(i + 1) % traces.length]] : [trace]]));
  cases.push(...['timeline', 'job', 'inspector'].map(panel => [panel, [run]]));
  const page = await new_page(width, height), judge = await browser.newPage();
  let compared = 0, largest = 0;
  for (const [panel, shown] of cases) {
    const name = path.basename(shown[0]), address = with_traces(...shown), native = path.join(folder, 'native.png');
    const drawn = spawnSync(viewer, [...shown, '--screenshot', native, '--panel', panel, '--select', 'none', '--size', `${width}x${height}`, '--scale', '1'], {encoding: 'utf8'});
    expect(`${name} ${panel}: ${drawn.stderr}`, drawn.status === 0);
    await open(page, `${address}#panel=${panel}&select=none`);
    await becomes(page, `${name} ${panel} is not ready`, now => (panel !== 'sql' || now.result_rows > 0 || now.error) && (panel !== 'compare' || now.compared || now.notice));
    await settled(page);
    const picture = await page.screenshot();
    const share = await judge.evaluate(difference, [picture, readFileSync(native)].map(png => 'data:image/png;base64,' + png.toString('base64')));
    ++compared;
    largest = Math.max(largest, share);
    expect(`${name}, ${panel}: ${(share * 100).toFixed(2)} % differ`, share <= most);
    if (share > most && process.env.STREAMSCOPE_PICTURES) {
      writeFileSync(path.join(process.env.STREAMSCOPE_PICTURES, `${name}-${panel}-web.png`), picture);
      writeFileSync(path.join(process.env.STREAMSCOPE_PICTURES, `${name}-${panel}-native.png`), readFileSync(native));
    }
  }
  console.log(`${compared} pictures compared, at most ${(largest * 100).toFixed(2)} % of the blocks differ (limit ${most * 100} %)`);
}

// Moves around a point, `reach` pixels at most, until something of this kind is below the pointer, and says where.
async function find(page, kind, around, reach = {x: 12, y: 6}, wait_ms = 200) {
  for (let y = around.y - reach.y; y <= around.y + reach.y; y += 3) {
    for (let x = around.x - reach.x; x <= around.x + reach.x; x += 4) {
      await page.mouse.move(x, y);
      await page.waitForTimeout(wait_ms);  // until the picture has settled
      const {hovered} = await state(page);
      if (hovered?.startsWith(kind)) return {x, y, hovered};
    }
  }
  expect(`nothing of kind ${kind} is below the pointer`, false);
  return {x: 0, y: 0};
}

async function input() {
  const [trace, other] = words;
  const page = await new_page(1600, 1000), address = with_traces(trace);
  const length = now => now.window.end_ns - now.window.begin_ns;
  await open(page, address);
  const first = await state(page);
  expect('does not open at an iteration', first.iteration !== null);

  for (const [kind, around] of [['op', {x: 300, y: 212}], ['wait', {x: 567, y: 231}]]) {
    const at = await find(page, kind + ':', around);
    await page.mouse.click(at.x, at.y);
    await becomes(page, `a click does not select a ${kind}`, now => now.selection?.startsWith(kind + ':'));
  }
  const place = await state(page), link = page.url();

  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, -300);
  await becomes(page, 'the wheel does not zoom in', now => length(now) < length(first) * 0.9);
  const zoomed = await state(page);
  await page.mouse.wheel(0, 300);
  await becomes(page, 'the wheel does not zoom out', now => length(now) > length(zoomed) * 1.1);
  await settled(page);
  const before = await state(page);
  await page.mouse.down();
  await page.mouse.move(900, 300, {steps: 5});
  await page.mouse.up();
  await becomes(page, 'a drag does not move', now => now.window.begin_ns < before.window.begin_ns && Math.abs(length(now) / length(before) - 1) < 1e-3);
  await page.keyboard.press('Escape');
  await touch_pad(page);

  await page.keyboard.press('Control+f');
  await becomes(page, 'no search', now => now.overlay === 'search');
  await page.keyboard.type('scale');
  await page.keyboard.press('Enter');
  await becomes(page, 'the search finds nothing', now => now.hits > 0 && now.selection?.startsWith('op:'));
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+p');
  await becomes(page, 'no palette', now => now.overlay === 'palette');
  await page.keyboard.type('theme');
  await page.keyboard.press('Enter');
  await becomes(page, 'the palette does not change the theme', now => now.theme === 'light');
  await page.keyboard.press('7');
  await becomes(page, 'no results of SQL', now => now.drawer === 'sql' && now.result_rows > 0);
  await clipboard(page);
  if (process.env.STREAMSCOPE_PICTURES) await page.screenshot({path: path.join(process.env.STREAMSCOPE_PICTURES, 'input.png')});

  const dropped = await page.evaluateHandle(([name, text]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
    return transfer;
  }, [path.basename(other), readFileSync(other).toString('base64')]);
  const count = (await state(page)).operations;
  await page.dispatchEvent('#canvas', 'drop', {dataTransfer: dropped});
  await becomes(page, 'a dropped trace does not open', now => now.operations > 0 && now.operations !== count);
  expect('the title is not that of the dropped trace', (await page.title()).startsWith(path.basename(other)));

  await open(page, link);
  const linked = await state(page);
  expect(`the link ${link} leads to ${JSON.stringify([linked, place].map(each => [each.selection, each.drawer, each.window]))}`, linked.selection === place.selection && linked.drawer === place.drawer &&
    Math.abs(linked.window.begin_ns - place.window.begin_ns) <= 2 && Math.abs(length(linked) - length(place)) <= length(place) * 0.01);

  await edge(page, address);
  await page.setViewportSize({width: 1100, height: 700});
  await becomes(page, 'does not follow the size of the window', now => now.window.width_px < place.window.width_px);
  await page.close();
  await high_resolution(address, place);
  await same_names(trace);
}

// Two traces of one name, from different folders, are two.
async function same_names(trace) {
  const twin = path.join(folder, path.basename(trace)), page = await new_page(1000, 700);
  copyFileSync(trace, twin);
  await open(page, with_traces(trace, twin));
  await becomes(page, 'a second trace of the same name is not compared', now => now.compared);
  await page.close();
}

// A click on the arrow of a selected operation leads to its other end, from where [ and ] lead back and forth.
async function edge(page, address) {
  await open(page, `${address}#select=op:11&range=936464572ns:936834746ns&drawer=sql`);
  const late = (await state(page)).selection;
  await page.keyboard.press('[');
  await becomes(page, '[ does not follow the edge', now => now.selection !== late);
  const early = (await state(page)).selection;
  await page.keyboard.press(']');
  await becomes(page, '] does not lead back', now => now.selection === late);
  // Between the lanes there is nothing else.
  const at = await find(page, early, {x: 541, y: 268}, {x: 24, y: 9});
  await page.mouse.click(at.x, at.y);
  await becomes(page, 'a click on an edge does not lead to its other end', now => now.selection === early);
}

// As a touch pad: two fingers to the side, and a pinch, which browsers report as the wheel with Ctrl, without its key.
async function touch_pad(page) {
  const length = now => now.window.end_ns - now.window.begin_ns, before = await state(page);
  await page.mouse.move(700, 300);
  await page.mouse.wheel(90, 0);
  await becomes(page, 'two fingers to the side do not move', now => now.window.begin_ns > before.window.begin_ns && Math.abs(length(now) / length(before) - 1) < 1e-3);
  await page.dispatchEvent('#canvas', 'wheel', {deltaY: -20, ctrlKey: true, cancelable: true});
  await becomes(page, 'a pinch does not zoom', now => length(now) < length(before) * 0.9);
  expect('a pinch zooms the page', await page.evaluate(() => window.visualViewport.scale === 1 && innerWidth === 1600));
}

// Text goes from the SQL panel to the clipboard and from there back.
async function clipboard(page) {
  const rows = async (count, what) => {
    await page.keyboard.press('Enter');
    await becomes(page, what, now => now.result_rows === count);
  };
  const all = async () => {
    await page.mouse.click(346, 710);
    await settled(page);
    await page.keyboard.press('Control+a');
  };
  await all();
  await page.keyboard.type('SELECT 1 UNION SELECT 2 UNION SELECT 3');
  await rows(3, 'SQL that was typed does not run');
  await all();
  await page.keyboard.press('Control+c');
  await settled(page);
  expect('nothing was copied', await page.evaluate(() => window.streamscope.pasted()) === 'SELECT 1 UNION SELECT 2 UNION SELECT 3');
  await all();
  await page.keyboard.type('SELECT 1');
  await rows(1, 'other SQL does not run');
  await all();
  await page.keyboard.press('Control+v');  // the browser then says what its clipboard has
  await rows(3, 'pasted SQL does not run');
  await page.keyboard.press('Escape');
}

// On a screen of two pixels for each of the page's, or with a page zoomed so: sharp, and clicks meet.
async function high_resolution(address, place) {
  const page = await new_page(1600, 1000, {deviceScaleFactor: 2});
  await open(page, address);
  expect('the canvas has not the pixels of the screen', await page.evaluate(() => document.getElementById('canvas').width) === 3200);
  const now = await state(page);
  expect('another part is shown', Math.abs(now.window.width_px / place.window.width_px - 2) < 0.1);
  const at = await find(page, 'op:', {x: 300, y: 212}, undefined, 800);
  await page.mouse.click(at.x, at.y);
  await becomes(page, 'a click meets nothing', seen => seen.selection === at.hovered);
  await page.close();
}

async function whole() {
  const page = await new_page(1000, 700);
  page.on('dialog', dialog => { expect('a dialog: ' + dialog.message(), false); dialog.dismiss(); });
  await open(page, 'file://' + path.resolve(page_file));
  for (const panel of '1234567') {
    await page.keyboard.press(panel);
    await settled(page);
  }
  const found = await page.evaluate(() => [window.hacked, document.querySelectorAll('img, iframe, object, embed, link, body > :not(canvas, p, input, script)').length, document.title]);
  expect('something in the trace acts as part of the page: ' + JSON.stringify(found), found[0] === undefined && found[1] === 0);
  console.log('title: ' + found[2]);
}

// A served trace; `most`: the largest that is fetched whole, if not as usual. Says how it was asked for.
async function open_served(most) {
  const page = await new_page(1000, 700, {bypassCSP: !!most}), asked = [];
  page.on('request', request => { if (request.url().includes('/trace/')) asked.push(request.headers().range ?? 'all'); });
  if (most) await page.route(page_file, async route => {
    const answer = await route.fetch(), text = await answer.text();
    expect('the largest trace to fetch is not in the page once', text.split('mostWhole = 1e9').length === 2);
    await route.fulfill({response: answer, body: text.replace('mostWhole = 1e9', `mostWhole = ${most}`)});
  });
  await page.goto(page_file);
  await page.waitForFunction(() => window.streamscope?.state?.loaded, null, {timeout: 60000});
  return {page, asked};
}

async function served() {
  const {page, asked} = await open_served();
  await becomes(page, 'all of the trace does not arrive', now => now.loaded && !now.sketch);
  expect('the overview is not read from parts of the file: ' + asked, asked.indexOf('all') > 0 && asked.filter(range => range === 'all').length === 1);
  const before = asked.length;
  await page.keyboard.press('7');
  await becomes(page, 'SQL does not read the file again', now => now.result_rows > 0);
  expect('the whole file is kept', asked.length > before && !asked.slice(before).includes('all'));
  await page.close();

  const large = await open_served('1000');
  await becomes(large.page, 'a large trace does not stay an overview', now => now.sketch && now.notice.includes('too large for a page'));
  expect('a large trace is fetched whole', !large.asked.includes('all'));
  if (process.env.STREAMSCOPE_PICTURES) await large.page.screenshot({path: path.join(process.env.STREAMSCOPE_PICTURES, 'overview.png')});
  await large.page.close();
}

async function threads() {
  await served();
  const {page} = await open_served();
  await becomes(page, 'the trace is not read', now => now.loaded && !now.sketch);
  expect('no thread runs', page.workers().length > 0);
  await page.close();

  // From a server that does not isolate it.
  const plain = await new_page(1000, 700);
  await plain.route(page_file, async route => {
    const answer = await route.fetch(), headers = answer.headers();
    delete headers['cross-origin-embedder-policy'];
    await route.fulfill({response: answer, headers});
  });
  await plain.goto(page_file + '#drawer=findings');
  await plain.waitForFunction(() => window.streamscope?.state?.loaded, null, {timeout: 60000});
  await becomes(plain, 'without threads, the trace is not read', now => now.loaded && !now.sketch && now.drawer === 'findings');
  expect('leads to ' + plain.url(), plain.url().startsWith(page_file + 'plain/#'));
  expect('a thread runs in a page that is not isolated', plain.workers().length === 0);
  await plain.close();
}

async function overview() {
  const page = await new_page(1000, 700);
  await open(page, 'file://' + path.resolve(page_file));
  await becomes(page, 'is no overview', now => now.sketch && now.notice.includes('too large for a page'));
  const before = await state(page), length = now => now.window.end_ns - now.window.begin_ns;
  await page.mouse.move(600, 200);
  await page.mouse.wheel(0, -300);
  await becomes(page, 'the overview does not zoom', now => length(now) < length(before) * 0.9);
  if (process.env.STREAMSCOPE_PICTURES) await page.screenshot({path: path.join(process.env.STREAMSCOPE_PICTURES, 'reduced.png')});
  await page.close();
}

const jobs = {pictures, input, whole, served, threads, overview};
if (!jobs[what]) throw new Error('usage: see the head of ' + process.argv[1]);
await jobs[what]();
await browser.close();
rmSync(folder, {recursive: true});
if (wrong.length) {
  console.log(`${wrong.length} wrong`);
  process.exit(1);
}
console.log('ok');
