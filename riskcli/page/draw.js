// Small drawings: scales, axes, and labels that keep out of each other's way.

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = { top: 12, right: 110, bottom: 40, left: 56 };

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

// An empty drawing with both axes; `x` and `y` turn values into places.
function chart(width, height, xs, ys, xTitle, yTitle, margin = MARGIN) {
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const bottom = height - margin.bottom;
  const right = width - margin.right;
  const x = scale(...xs, margin.left, right);
  const y = scale(...ys, bottom, margin.top);
  for (const value of ticks(...ys, 5)) {
    svg.append(line(margin.left, y(value), right, y(value), "grid"));
    svg.append(words(margin.left - 6, y(value) + 4, short(value), "tick", "end"));
  }
  for (const value of xTitle === "" ? [] : ticks(...xs, 5)) {
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

function tooltip(drawn, text) {
  drawn.append(shape("title", {}, text));
  return drawn;
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

// A long name without its middle: beginnings tell families apart, ends tell versions.
function cut(name, most = 15) {
  const half = Math.floor((most - 1) / 2);
  return name.length > most ? `${name.slice(0, half)}…${name.slice(-half)}` : name;
}

function bounds(values) {
  const present = values.filter(Number.isFinite);
  if (!present.length) return [0, 1];
  const low = Math.min(...present);
  const high = Math.max(...present);
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}
