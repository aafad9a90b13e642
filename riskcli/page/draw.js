// Small drawings: scales, axes, marks that keyboard, finger and screen reader reach, and labels that
// keep out of each other's way.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 12, right: 110, bottom: 40, left: 62 };
const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "turned"];

// An element of the document or of a drawing; text only ever arrives as text.
function element(name, attributes = {}, text = null, space = null) {
  const made = space ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  return made;
}

function shape(name, attributes, text = null) {
  return element(name, attributes, text, SVG);
}

function scale(low, high, from, to) {
  const span = high > low ? high - low : 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

// Round numbers from low to high, about `count` of them.
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

// An empty drawing with both axes; `x` and `y` turn values into pixels. `label` is its name.
function chart({ width, height, xs, ys, xTitle, yTitle, label, margin = MARGIN }) {
  const svg = shape("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label,
  });
  const bottom = height - margin.bottom;
  const right = width - margin.right;
  const x = scale(...xs, margin.left, right);
  const y = scale(...(ys ?? [0, 1]), bottom, margin.top);
  for (const value of ys ? ticks(...ys, 5) : []) {
    svg.append(line(margin.left, y(value), right, y(value), "grid"));
    svg.append(words(margin.left - 6, y(value) + 4, short(value), "tick", "end"));
  }
  for (const value of xTitle === "" ? [] : ticks(...xs, Math.max(2, Math.floor((right - margin.left) / 70)))) {
    svg.append(line(x(value), bottom, x(value), bottom + 4, "axis"));
    svg.append(words(x(value), bottom + 17, short(value), "tick", "middle"));
  }
  svg.append(line(margin.left, bottom, right, bottom, "axis"));
  svg.append(words((margin.left + right) / 2, height - 5, xTitle, "title", "middle"));
  const middle = (margin.top + bottom) / 2;
  const turned = words(14, middle, yTitle, "title", "middle");
  turned.setAttribute("transform", `rotate(-90 14 ${middle})`);
  svg.append(turned);
  return { svg, x, y, left: margin.left, right, top: margin.top, bottom };
}

function line(x1, y1, x2, y2, kind) {
  return shape("line", { x1, y1, x2, y2, class: kind });
}

function words(x, y, text, kind, anchor) {
  return shape("text", { x, y, class: kind, "text-anchor": anchor }, text);
}

function short(value) {
  return String(Number(value.toPrecision(6))).replace("-", "−");
}

function path(points, kind) {
  const d = points.map(([px, py], i) => `${i ? "L" : "M"}${px.toFixed(2)} ${py.toFixed(2)}`).join("");
  return shape("path", { d, class: kind });
}

// A dot whose shape tells as much as its colour.
function dot(x, y, size, kind, form = "circle") {
  if (form === "circle") return shape("circle", { cx: x, cy: y, r: size, class: kind });
  const outline = {
    square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    triangle: [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]],
    diamond: [[0, -1.35], [1.35, 0], [0, 1.35], [-1.35, 0]],
    turned: [[0, 1.2], [1.15, -0.9], [-1.15, -0.9]],
    cross: [[-0.45, -1.3], [0.45, -1.3], [0.45, -0.45], [1.3, -0.45], [1.3, 0.45], [0.45, 0.45],
      [0.45, 1.3], [-0.45, 1.3], [-0.45, 0.45], [-1.3, 0.45], [-1.3, -0.45], [-0.45, -0.45]],
  }[form];
  const points = outline.map(([dx, dy]) => `${(x + dx * size).toFixed(2)},${(y + dy * size).toFixed(2)}`);
  return shape("polygon", { points: points.join(" "), class: kind });
}

// Makes the drawn shapes buttons: one tab stop a figure, arrow keys from mark to mark, a name for
// each that also shows beside the pointer. `marks` are {drawn, name, act} in their reading order.
function reachable(svg, marks) {
  const at = new Map(marks.map(({ drawn }, i) => [drawn, i]));
  marks.forEach(({ drawn, name }, i) => {
    drawn.setAttribute("role", "button");
    drawn.setAttribute("aria-label", name);
    drawn.setAttribute("tabindex", i ? "-1" : "0");
    drawn.classList.add("mark-of-figure");
  });
  const markOf = (event) => marks[at.get(event.target)];
  const focus = (i) => {
    const next = marks[Math.max(0, Math.min(marks.length - 1, i))].drawn;
    for (const { drawn } of marks) drawn.setAttribute("tabindex", drawn === next ? "0" : "-1");
    next.focus();
  };
  svg.addEventListener("click", (event) => markOf(event)?.act());
  svg.addEventListener("keydown", (event) => {
    const i = at.get(event.target);
    if (i === undefined) return;
    const moves = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: marks.length - 1 };
    if (event.key in moves) focus(moves[event.key]);
    else if (event.key === "Enter" || event.key === " ") marks[i].act();
    else return;
    event.preventDefault();
  });
  const show = (event) => { if (markOf(event)) showTip(markOf(event).name, event); };
  svg.addEventListener("pointerover", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("focusin", show);
  svg.addEventListener("pointerout", hideTip);
  svg.addEventListener("focusout", hideTip);
}

function showTip(text, event) {
  const tip = document.getElementById("tip");
  tip.textContent = text;
  tip.hidden = false;
  const box = event.target.getBoundingClientRect();
  const x = event.clientX ?? box.x + box.width / 2;
  const y = event.clientY ?? box.y;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(x + 12, room))}px`;
  tip.style.top = `${Math.max(8, y - tip.offsetHeight - 12)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

// Labels at wanted heights, pushed apart so that each has `gap` for itself.
function spread(labels, gap, bottom) {
  const sorted = [...labels].sort((a, b) => a.y - b.y);
  sorted.forEach((label, i) => {
    if (i) label.y = Math.max(label.y, sorted[i - 1].y + gap);
  });
  let most = bottom;
  for (const label of sorted.reverse()) {
    label.y = Math.min(label.y, most);
    most = label.y - gap;
  }
  return sorted;
}

// A place for each label beside its point where it covers no dot and no other label; a thin leader
// to it where that is away from the point. `points` are the centres of all dots.
function placeLabels(svg, labels, points, bounds) {
  const taken = [];
  const free = (box) =>
    box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top &&
    box.bottom <= bounds.bottom &&
    !taken.some((o) => box.left < o.right && o.left < box.right && box.top < o.bottom && o.top < box.bottom) &&
    !points.some(([x, y]) => x > box.left - 4 && x < box.right + 4 && y > box.top - 4 && y < box.bottom + 4);
  for (const label of labels) {
    const box = offers(label).find(free);
    if (!box) continue;
    taken.push(box);
    if (box.far) svg.append(line(label.x, label.y, box.anchorX, (box.top + box.bottom) / 2, "leader"));
    svg.append(words(box.left, box.bottom - 3, label.text, label.kind, "start"));
  }
}

function offers({ x, y, text }) {
  const wide = 7 * text.length + 2;
  const high = 14;
  const box = (left, top, far) => ({
    left, right: left + wide, top, bottom: top + high, far, anchorX: left > x ? left : left + wide,
  });
  const near = [[8, -7], [-8 - wide, -7], [8, 4], [8, -18], [-8 - wide, 4], [-8 - wide, -18], [-wide / 2, -22], [-wide / 2, 9]];
  const far = [];
  for (const reach of [26, 46, 70, 100]) {
    for (let turn = 0; turn < 12; turn += 1) {
      const angle = (turn * Math.PI) / 6;
      const side = Math.cos(angle) >= 0 ? 0 : -wide;
      far.push(box(x + reach * Math.cos(angle) + side, y + reach * Math.sin(angle) - high / 2, true));
    }
  }
  return [...near.map(([dx, dy]) => box(x + dx, y + dy, false)), ...far];
}

// A long name without its middle: beginnings tell families apart, ends tell versions.
function cut(name, most = 15) {
  const half = Math.floor((most - 1) / 2);
  return name.length > most ? `${name.slice(0, half)}…${name.slice(-half)}` : name;
}

function bounds(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}
