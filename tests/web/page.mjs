// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Opens the viewer's page in headless Chromium, with traces inside, and compares and uses it.
//   node page.mjs pictures PAGE VIEWER TRACE...   every panel on every trace, as the native viewer draws it
//   node page.mjs input PAGE TRACE OTHER          wheel, drag, click, keys, search, SQL, a dropped file, a link
// Prints what is wrong and exits 1; exits 77 without a browser.
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
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
if (!existsSync(page_file)) skip(`no ${page_file} (./dev web makes it)`);

const wrong = [];
const expect = (text, good) => { if (!good) { wrong.push(text); console.log('wrong: ' + text); } };
const folder = mkdtempSync(path.join(tmpdir(), 'streamscope-page-'));
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']});

// The page with a trace inside, as `streamscope report --format app` writes it.
function with_trace(trace) {
  const bytes = readFileSync(trace), file = path.join(folder, path.basename(trace) + '.html');
  const element = `<script type="application/vnd.streamscope.trace" data-name="${path.basename(trace)}" data-bytes="${bytes.length}">` +
    gzipSync(bytes).toString('base64') + '</script>';
  writeFileSync(file, readFileSync(page_file, 'utf8').replace('<!-- streamscope: traces -->', element));
  return 'file://' + file;
}

async function new_page(width, height) {
  const page = await browser.newPage({viewport: {width, height}});
  page.on('console', message => { if (message.type() === 'error') expect('console: ' + message.text(), false); });
  page.on('pageerror', error => expect('error: ' + error.message, false));
  page.on('request', request => expect('asks for ' + request.url(), /^(file|data|blob):/.test(request.url())));
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
  const [viewer, ...traces] = words;
  const most = 0.004, width = 760, height = 460;
  const panels = ['timeline', 'inspector', 'diagnosis', 'findings', 'graph', 'pools', 'deadlocks', 'statistics', 'sql'];
  const page = await new_page(width, height), judge = await browser.newPage();
  let compared = 0, largest = 0;
  for (const trace of traces) {
    const address = with_trace(trace);
    for (const panel of panels) {
      const native = path.join(folder, 'native.png');
      const drawn = spawnSync(viewer, [trace, '--screenshot', native, '--panel', panel, '--select', 'none', '--size', `${width}x${height}`, '--scale', '1'], {encoding: 'utf8'});
      expect(`${trace} ${panel}: ${drawn.stderr}`, drawn.status === 0);
      await open(page, `${address}#panel=${panel}&select=none`);
      await becomes(page, `${trace} ${panel} is not ready`, now => panel !== 'sql' || now.result_rows > 0 || now.error);
      await settled(page);
      const picture = await page.screenshot();
      const share = await judge.evaluate(difference, [picture, readFileSync(native)].map(png => 'data:image/png;base64,' + png.toString('base64')));
      ++compared;
      largest = Math.max(largest, share);
      expect(`${path.basename(trace)}, ${panel}: ${(share * 100).toFixed(2)} % differ`, share <= most);
      if (share > most && process.env.STREAMSCOPE_PICTURES) {
        writeFileSync(path.join(process.env.STREAMSCOPE_PICTURES, `${path.basename(trace)}-${panel}-web.png`), picture);
        writeFileSync(path.join(process.env.STREAMSCOPE_PICTURES, `${path.basename(trace)}-${panel}-native.png`), readFileSync(native));
      }
    }
  }
  console.log(`${compared} pictures compared, at most ${(largest * 100).toFixed(2)} % of the blocks differ (limit ${most * 100} %)`);
}

// Moves around a point until something of this kind is below the pointer, and says where.
async function find(page, kind, around) {
  for (let y = around.y - 6; y <= around.y + 6; y += 3) {
    for (let x = around.x - 12; x <= around.x + 12; x += 4) {
      await page.mouse.move(x, y);
      await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 200)));  // until the picture has settled
      if ((await state(page)).hovered?.startsWith(kind)) return {x, y};
    }
  }
  expect(`nothing of kind ${kind} is below the pointer`, false);
  return {x: 0, y: 0};
}

async function input() {
  const [trace, other] = words;
  const page = await new_page(1600, 1000), address = with_trace(trace);
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

  await page.setViewportSize({width: 1100, height: 700});
  await becomes(page, 'does not follow the size of the window', now => now.window.width_px < place.window.width_px);
  await page.close();
}

const jobs = {pictures, input};
if (!jobs[what]) throw new Error('usage: see the head of ' + process.argv[1]);
await jobs[what]();
await browser.close();
rmSync(folder, {recursive: true});
if (wrong.length) {
  console.log(`${wrong.length} wrong`);
  process.exit(1);
}
console.log('ok');
