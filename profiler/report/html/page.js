'use strict';
// The timeline of a report: zoom, pan, hover, search, edges. html.cpp writes `data`:
// lanes [{name, ops: [start, length, name, count, ...]}], names, kinds, edges [from lane, from place, to lane, to place],
// first and last instant, and, if there are iterations, the one to begin with: {from, to, title, column}. Times are ns. If there are too many ops, neighbors are merged (count > 1).
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const svg = document.getElementById('timeline');
  const facts = document.getElementById('facts');
  const kLabel = 190, kLane = 26, kAxis = 24, kFields = 4;
  const kColors = ['--kernel', '--copy', '--copy', '--other', '--other', '--other', '--other'];
  let from = data.first, to = Math.max(data.last, data.first + 1), selected = null, found = null;
  let iteration = null;  // the one that is marked, as [from, to]
  const make = (name, attributes, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const duration = ns => {
    const size = Math.abs(ns);
    for (const [unit, scale] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
      if (size >= scale) return (ns / scale).toPrecision(3).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') + ' ' + unit;
    return Math.round(ns) + ' ns';
  };
  // A label of the axis, with enough digits to tell ticks apart.
  const instant = (ns, step) => {
    const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]].find(([, scale]) => to >= scale) || ['ns', 1];
    return (ns / scale).toFixed(Math.max(0, Math.ceil(Math.log10(scale / step)))) + ' ' + unit;
  };
  const width = () => Math.max(svg.clientWidth, kLabel + 200);
  const x = ns => kLabel + (ns - from) / (to - from) * (width() - kLabel);
  const at = pixel => from + (pixel - kLabel) / (width() - kLabel) * (to - from);
  const count = lane => lane.ops.length / kFields;
  const start = (lane, i) => lane.ops[i * kFields], end = (lane, i) => start(lane, i) + lane.ops[i * kFields + 1];
  const name = (lane, i) => data.names[lane.ops[i * kFields + 2]], many = (lane, i) => lane.ops[i * kFields + 3];
  // The first op of a lane that ends after an instant.
  const firstAfter = (lane, ns) => {
    let low = 0, high = count(lane);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.latest[middle] <= ns) low = middle + 1; else high = middle;
    }
    return low;
  };
  for (const lane of data.lanes) {
    let latest = -Infinity;
    lane.latest = Array.from({length: count(lane)}, (_, i) => latest = Math.max(latest, end(lane, i)));
  }
  const row = l => kAxis + l * kLane;
  const isSelected = (l, i) => selected && selected[0] === l && selected[1] === i;
  const describe = (l, i) => {
    const lane = data.lanes[l];
    const what = many(lane, i) > 1 ? many(lane, i) + ' ops, the longest ' + name(lane, i) : name(lane, i);
    return what + '\n' + lane.name + ', starts at ' + duration(start(lane, i)) + ', takes ' + duration(end(lane, i) - start(lane, i));
  };
  const draw = () => {
    const height = row(data.lanes.length) + 8;
    svg.setAttribute('height', height);
    svg.setAttribute('viewBox', '0 0 ' + width() + ' ' + height);
    const picture = document.createDocumentFragment();
    if (iteration && iteration[0] < to && iteration[1] > from) {
      const left = Math.max(x(iteration[0]), kLabel), right = Math.min(x(iteration[1]), width());
      picture.append(make('rect', {x: left, y: 0, width: Math.max(right - left, 1), height, fill: 'var(--soft)', class: 'iteration'}));
    }
    const step = 10 ** Math.floor(Math.log10((to - from) / 6)), ticks = (to - from) / step > 24 ? step * 5 : (to - from) / step > 12 ? step * 2 : step;
    for (let ns = Math.ceil(from / ticks) * ticks; ns <= to; ns += ticks) {
      picture.append(make('line', {x1: x(ns), x2: x(ns), y1: kAxis - 4, y2: height, stroke: 'var(--line)'}));
      if (x(ns) < width() - 90) picture.append(make('text', {x: x(ns) + 3, y: 15, class: 'axis'}, instant(ns, ticks)));
    }
    data.lanes.forEach((lane, l) => {
      let drawn = -Infinity;
      for (let i = firstAfter(lane, from); i < count(lane) && start(lane, i) < to; i++) {
        const left = Math.max(x(start(lane, i)), kLabel), right = Math.min(x(end(lane, i)), width());
        const special = isSelected(l, i) || (found && found.has(lane.ops[i * kFields + 2]));
        if (right <= drawn + 0.5 && !special) continue;  // narrower than a pixel and hidden by the previous one
        drawn = right;
        const box = make('rect', {x: left, y: row(l) + 3, width: Math.max(right - left, 1), height: kLane - 6,
          fill: 'var(' + (kColors[data.kinds[lane.ops[i * kFields + 2]]] || '--other') + ')', opacity: found && !special ? 0.25 : 0.9,
          'data-op': l + ',' + i});
        if (isSelected(l, i)) box.setAttribute('stroke', 'var(--ink)'), box.setAttribute('stroke-width', 2);
        picture.append(box);
        if (right - left > 60) {
          picture.append(make('text', {x: left + 4, y: row(l) + 17, 'pointer-events': 'none', style: 'fill: var(--paper)'},
            name(lane, i).slice(0, Math.floor((right - left - 8) / 7))));
        }
      }
    });
    for (const edge of data.edges) {
      const touches = isSelected(edge[0], edge[1]) || isSelected(edge[2], edge[3]);
      if (selected ? !touches : data.edges.length > 400) continue;
      const ax = x(end(data.lanes[edge[0]], edge[1])), bx = x(start(data.lanes[edge[2]], edge[3]));
      if ((ax < kLabel && bx < kLabel) || (ax > width() && bx > width())) continue;
      const ay = row(edge[0]) + kLane / 2, by = row(edge[2]) + kLane / 2;
      picture.append(make('path', {d: 'M' + ax + ' ' + ay + ' C' + (ax + 20) + ' ' + ay + ' ' + (bx - 20) + ' ' + by + ' ' + bx + ' ' + by,
        fill: 'none', stroke: 'var(--edge)', 'stroke-width': touches ? 2 : 1, opacity: touches ? 1 : 0.6, 'pointer-events': 'none', class: 'edge'}));
    }
    picture.append(make('rect', {x: 0, y: kAxis, width: kLabel, height: height - kAxis, fill: 'var(--paper)'}));
    data.lanes.forEach((lane, l) => picture.append(make('text', {x: 4, y: row(l) + 17}, lane.name.length > 26 ? lane.name.slice(0, 25) + '…' : lane.name)));
    svg.replaceChildren(picture);
    svg.dataset.span = to - from;
  };
  const show = (a, b) => {
    const least = 10, all = Math.max(data.last - data.first, least);
    const length = Math.min(Math.max(b - a, least), all * 1.1);
    from = Math.min(Math.max(a, data.first - all * 0.05), data.last + all * 0.05 - length);
    to = from + length;
    draw();
  };
  const zoom = (factor, center = (from + to) / 2) => show(center - (center - from) * factor, center + (to - center) * factor);
  const showAll = () => show(data.first, data.last);
  const select = (l, i) => {
    selected = [l, i];
    facts.textContent = describe(l, i);
    draw();
  };
  const opAt = event => {
    const mark = event.target.getAttribute && event.target.getAttribute('data-op');
    return mark ? mark.split(',').map(Number) : null;
  };
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event.clientX - svg.getBoundingClientRect().left));
  }, {passive: false});
  let drag = null;
  svg.addEventListener('pointerdown', event => { drag = {x: event.clientX, from, to, moved: false}; });
  svg.addEventListener('pointermove', event => {
    if (drag) {
      const shift = (drag.x - event.clientX) / (width() - kLabel) * (drag.to - drag.from);
      if (Math.abs(drag.x - event.clientX) > 3) drag.moved = true;
      if (drag.moved) show(drag.from + shift, drag.to + shift);
    } else if (!selected) {
      const op = opAt(event);
      if (op) facts.textContent = describe(...op);
    }
  });
  addEventListener('pointerup', () => { setTimeout(() => { drag = null; }, 0); });
  svg.addEventListener('click', event => {
    if (drag && drag.moved) return;
    const op = opAt(event);
    if (op) select(...op); else { selected = null; facts.textContent = facts.dataset.hint; draw(); }
  });
  svg.addEventListener('keydown', event => {
    const key = {a: 'ArrowLeft', d: 'ArrowRight', w: '+', s: '-'}[event.key] || event.key, step = (to - from) / 5;
    const act = {ArrowLeft: () => show(from - step, to - step), ArrowRight: () => show(from + step, to + step),
      '+': () => zoom(0.8), '-': () => zoom(1.25), 0: showAll}[key];
    if (act) { event.preventDefault(); act(); }
  });
  const on = (id, act) => document.getElementById(id).addEventListener('click', act);
  on('in', () => zoom(0.5));
  on('out', () => zoom(2));
  on('all', showAll);
  document.getElementById('search').addEventListener('input', event => {
    const text = event.target.value.trim().toLowerCase();
    found = text ? new Set(data.names.flatMap((known, i) => known.toLowerCase().includes(text) ? [i] : [])) : null;
    let hits = 0;
    if (found) for (const lane of data.lanes) for (let i = 0; i < count(lane); i++) if (found.has(lane.ops[i * kFields + 2])) hits += many(lane, i);
    document.getElementById('hits').textContent = found ? hits + ' ops' : '';
    draw();
  });
  // Iterations: their columns are one stop of the Tab key, in which arrow keys move.
  const columns = [...document.querySelectorAll('.strip [data-from]')];
  const showIteration = (from, to, title, column) => {
    const margin = (to - from) * 0.04;
    selected = null;
    iteration = [from, to];
    show(from - margin, to + margin);
    facts.textContent = title + '\n' + facts.dataset.hint;
    columns.forEach((other, i) => {
      other.tabIndex = i === column ? 0 : -1;
      if (i === column) other.setAttribute('aria-current', 'true'); else other.removeAttribute('aria-current');
    });
  };
  const choose = column => {
    const {from, to} = columns[column].dataset;
    showIteration(Number(from), Number(to), columns[column].querySelector('title').textContent, column);
    columns[column].focus({preventScroll: true});
  };
  const showTimeline = () => { if (svg.getBoundingClientRect().top > innerHeight - 80) svg.scrollIntoView({block: 'nearest'}); };
  const home = data.iteration, showHome = () => showIteration(home.from, home.to, home.title, home.column);
  columns.forEach(column => column.setAttribute('role', 'button'));
  if (home) on('median', showHome);
  const strip = document.querySelector('.strip');
  if (strip) {
    strip.addEventListener('click', event => {
      const middle = column => { const box = column.getBoundingClientRect(); return (box.left + box.right) / 2; };
      const distances = columns.map(column => Math.abs(middle(column) - event.clientX));
      const chosen = columns.indexOf(event.target.closest('[data-from]'));
      choose(chosen >= 0 ? chosen : distances.indexOf(Math.min(...distances)));
      showTimeline();
    });
    strip.addEventListener('keydown', event => {
      const now = columns.indexOf(event.target.closest('[data-from]')), last = columns.length - 1;
      const next = {ArrowLeft: Math.max(now - 1, 0), ArrowRight: Math.min(now + 1, last), Home: 0, End: last, Enter: now, ' ': now}[event.key];
      if (now < 0 || next === undefined) return;
      event.preventDefault();
      choose(next);
      if (next === now) showTimeline();
    });
  }
  document.querySelectorAll('button[data-from]').forEach(button => button.addEventListener('click', () => {
    const a = Number(button.dataset.from), b = Number(button.dataset.to), margin = Math.max((b - a) * 0.5, 500);
    selected = null;
    show(a - margin, b + margin);
    facts.textContent = button.dataset.title;
    svg.scrollIntoView({block: 'center'});
    svg.focus();
  }));
  facts.textContent = facts.dataset.hint;
  addEventListener('resize', draw);
  if (home) showHome(); else draw();
  document.documentElement.dataset.ready = '1';
})();
