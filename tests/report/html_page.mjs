// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Opens an HTML report in a headless Chromium and uses it: zoom, pan, search, a finding, iterations, names and
// contrast of what can be used. Prints what is wrong and exits 1; exits 77 without a browser.
//   node html_page.mjs REPORT.html [PICTURE.png]    pictures are PICTURE.light.png, PICTURE.dark.png and PICTURE.print.png
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import process from 'node:process';

let chromium;
try {
  const folder = process.env.STREAMSCOPE_PLAYWRIGHT || process.cwd();
  ({chromium} = createRequire(path.join(folder, 'x.js'))('playwright-core'));
} catch {
  console.log('skipped: playwright-core is not installed (npm install playwright-core; name its folder in STREAMSCOPE_PLAYWRIGHT)');
  process.exit(77);
}
const browser_path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!browser_path) {
  console.log('skipped: no Chromium');
  process.exit(77);
}
const wrong = [];
const expect = (what, good) => { if (!good) wrong.push(what); };

const browser = await chromium.launch({executablePath: browser_path, args: ['--no-sandbox']});
const page = await browser.newPage({viewport: {width: 1280, height: 900}});
page.on('console', message => { if (message.type() === 'error') wrong.push('console: ' + message.text()); });
page.on('pageerror', error => wrong.push('error: ' + error.message));
page.on('request', request => { if (!/^(file|data):/.test(request.url())) wrong.push('asks the network: ' + request.url()); });
let opened = Infinity;
for (let tries = 0; tries < 3 && opened >= 2000; ++tries) {  // other tests run beside this one
  const begin = Date.now();
  await page.goto('file://' + path.resolve(process.argv[2]));
  await page.waitForSelector('html[data-ready="1"]');
  opened = Math.min(opened, Date.now() - begin);
}
expect(`opens in ${opened} ms`, opened < 2000);

const boxes = () => page.locator('#timeline rect[data-op]').count();
const span = () => page.evaluate(() => Number(document.getElementById('timeline').dataset.span));
expect('draws no op', await boxes() > 0);
const shown = () => page.locator('.strip [aria-current]').evaluateAll(columns => columns.map(column => column.querySelector('title').textContent).join());
const home = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).iteration);
expect('iterations, but no strip, or a strip without', Boolean(home) === (await page.locator('.strip').count() === 1));
const opening = await span();
await page.click('#all');
const before = await span();
if (home) {
  const fits = (length, ns) => Math.abs(ns - length * 1.08) <= Math.max(length * 0.01, 10);
  expect(`opens with ${opening} ns instead of the median iteration`, fits(home.to - home.from, opening) && opening < before);
  await page.click('#median');
  expect('the button does not show the median iteration', Math.abs(await span() - opening) < 1 && (await page.textContent('#facts')).startsWith(home.title));
  expect('the median iteration is not marked', await page.locator('#timeline .iteration').count() === 1);
  const columns = page.locator('.strip [data-from]'), other = home.column > 0 ? 0 : 1;
  const length = column => column.evaluate(column => column.dataset.to - column.dataset.from);
  await columns.nth(other).click();
  expect('a click on an iteration does not show it', fits(await length(columns.nth(other)), await span()));
  expect('the iteration that is shown is not the current one', await shown() === await columns.nth(other).locator('title').textContent());
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  const previous = columns.nth(await columns.count() - 2);
  expect('the arrow keys do not move between iterations', fits(await length(previous), await span()) && await shown() === await previous.locator('title').textContent());
  expect('the iteration is not named', (await page.textContent('#facts')).startsWith(await shown()));
  await page.keyboard.press('Enter');
  expect('the iterations lose the focus', await page.evaluate(() => document.activeElement.matches('.strip [aria-current]')));
  expect('the iterations are more than one stop of the Tab key', await page.locator('.strip [tabindex="0"]').count() === 1);
  await page.click('#all');
}
await page.click('#in');
expect('zooming in does not halve what is shown', Math.abs(await span() - before / 2) < 1);
await page.click('#all');
expect('"Show all" does not restore the view', Math.abs(await span() - before) < 1);
await page.focus('#timeline');
await page.keyboard.press('+');
expect('the key + does not zoom', await span() < before);
await page.keyboard.press('0');

await page.locator('#timeline rect[data-op]').first().click();
expect('a click on an op tells nothing', /takes/.test(await page.textContent('#facts')));
const name = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent).names[0]);
await page.fill('#search', name.slice(0, 20));
expect('the search finds nothing', /^[1-9][0-9]* ops$/.test(await page.textContent('#hits')));
await page.fill('#search', '');

const findings = page.locator('button[data-from]');
if (await findings.count() > 0) {
  await findings.first().click();
  expect('a finding is not shown', (await page.textContent('#facts')) === (await findings.first().getAttribute('data-title')));
}

// Pictures have descriptions, and nothing that they draw is outside of them.
wrong.push(...await page.evaluate(() => [...document.querySelectorAll('svg.picture, svg.shares, svg.strip')].flatMap(svg => {
  const faults = [], frame = svg.getBoundingClientRect();
  if (!svg.getAttribute('aria-label')) faults.push('a picture without a name');
  if (!svg.querySelector('rect, path')) faults.push('an empty picture: ' + svg.getAttribute('aria-label'));
  for (const part of svg.querySelectorAll('rect, text')) {
    const box = part.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      faults.push('drawn outside of a picture: ' + (part.textContent || part.outerHTML.slice(0, 80)));
  }
  return faults;
})));

// Names of what can be used, and contrast of what is read (WCAG AA: 4.5), in both themes and on paper.
for (const look of [{colorScheme: 'light'}, {colorScheme: 'dark'}, {colorScheme: 'light', media: 'print'}]) {
  await page.emulateMedia({media: 'screen', ...look});
  const faults = await page.evaluate(() => {
    const faults = [];
    for (const element of document.querySelectorAll('button, input, [tabindex]')) {
      const name = element.getAttribute('aria-label') || element.textContent.trim() || (element.labels && element.labels[0] && element.labels[0].textContent);
      if (!name) faults.push('no name: ' + element.outerHTML.slice(0, 80));
    }
    const light = color => {
      const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
      for (; element; element = element.parentElement) {
        const color = getComputedStyle(element).backgroundColor;
        if (color !== 'rgba(0, 0, 0, 0)' && color !== 'transparent') return color;
      }
      return 'rgb(255, 255, 255)';
    };
    for (const element of document.querySelectorAll('h1, h2, h3, p, th, td, li, button, label, figcaption, #facts')) {
      const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((p, q) => q - p);
      if ((a + 0.05) / (b + 0.05) < 4.5) faults.push('contrast ' + ((a + 0.05) / (b + 0.05)).toFixed(1) + ': ' + element.textContent.slice(0, 40));
    }
    const levels = [...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1]);
    if (levels.some((level, i) => i > 0 && level > levels[i - 1] + 1)) faults.push('a level of headings is left out');
    if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
    return faults;
  });
  wrong.push(...faults.map(fault => `${look.colorScheme}${look.media ? ', print' : ''}: ${fault}`));
  if (process.argv[3]) {
    const name = look.media ?? look.colorScheme;
    await page.screenshot({path: process.argv[3].replace(/\.png$/, `.${name}.png`), fullPage: true});
  }
}
await browser.close();
for (const fault of wrong) console.log('FAILED:', fault);
console.log(`${process.argv[2]}: opened in ${opened} ms, ${wrong.length} faults`);
process.exit(wrong.length ? 1 : 0);
