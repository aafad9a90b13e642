// The figures of all runs: curves over alpha, gain against risk, intervals, z by run and topic.
// A figure answers its drawing, and `moveTo` where it follows alpha.

const CURVE_ALPHAS = Array.from({ length: 41 }, (_, i) => i / 2);
const MOST_INTERVALS = 30;
const DASHES = 6;

// A risk measure over alpha: a line a run, those selected in colour, dashed and named.
function drawCurves(view, riskMeasure, size) {
  const { comparison, selected, names } = view;
  const { title } = riskMeasure;
  const byAlpha = CURVE_ALPHAS.map((alpha) => comparison.computed(riskMeasure, alpha));
  const end = CURVE_ALPHAS[CURVE_ALPHAS.length - 1];
  const drawn = chart({
    ...size, xs: [0, end], ys: bounds(byAlpha.flatMap((values) => Array.from(values))),
    xTitle: "α", yTitle: title, label: `${title} of every run over α`,
  });
  const points = (row) =>
    CURVE_ALPHAS.map((alpha, i) => [alpha, byAlpha[i][row]])
      .filter(([, value]) => Number.isFinite(value))
      .map(([alpha, value]) => [drawn.x(alpha), drawn.y(value)]);
  const others = names.map((_, row) => row).filter((row) => !selected.includes(row));
  const marks = [...others, ...selected].map((row) => {
    const place = selected.indexOf(row);
    const kind = place < 0 ? "curve other" : `curve s${place}`;
    const curve = path(points(row), kind);
    drawn.svg.append(curve);
    return { drawn: curve, name: `${names[row]}, ${title}`, act: () => view.select(row) };
  });
  endLabels(drawn, selected, (row) => points(row).at(-1)?.[1], names);
  const now = line(0, drawn.top, 0, drawn.bottom, "now");
  drawn.svg.append(now);
  reachable(drawn.svg, marks.reverse());
  drawn.moveTo = (alpha) => {
    now.setAttribute("transform", `translate(${drawn.x(Math.min(alpha, end))} 0)`);
    now.classList.toggle("beyond", alpha > end);
    const at = comparison.computed(riskMeasure, alpha);
    [...others, ...selected].reverse().forEach((row, i) => {
      marks[i].name = `${names[row]}: ${title} ${decimal(at[row], riskMeasure.decimals)} at α = ${short(alpha)}`;
      marks[i].drawn.setAttribute("aria-label", marks[i].name);
    });
  };
  return drawn;
}

// The names of the selected runs beside the frame, each with a leader from the end of its line.
function endLabels(drawn, selected, heightOf, names) {
  const labels = selected
    .map((row, place) => ({ row, place, from: heightOf(row) }))
    .filter(({ from }) => from !== undefined)
    .map((label) => ({ ...label, y: label.from + 4 }));
  for (const { y, from, row, place } of spread(labels, 14, drawn.bottom)) {
    drawn.svg.append(line(drawn.right + 1, from, drawn.right + 9, y - 4, "leader"));
    drawn.svg.append(words(drawn.right + 11, y, cut(names[row]), `label t${place}`, "start"));
  }
}

// Gain against risk, the baseline at the origin, as SIGIR'12 draws it: above the break-even line
// URisk is above 0; above the proportional line a run has more gain for its risk than the run of
// the highest gain; the hull joins the runs that no other beats in both.
function drawTradeoff(view, size) {
  const { comparison, selected, names } = view;
  const present = names.map((_, row) => row).filter((row) => !Number.isNaN(comparison.reward[row]));
  const gain = (row) => comparison.urisk(row, 0);
  const reach = ([low, high]) => [low - 0.06 * (high - low), high + 0.06 * (high - low)];
  const xs = reach(bounds([0, ...present.map((row) => comparison.risk[row])]));
  const ys = reach(bounds([0, ...present.map(gain)]));
  const drawn = chart({
    ...size, xs, ys, xTitle: "Risk: mean loss", yTitle: "Gain: mean difference",
    label: "Gain against risk of every run", margin: { ...MARGIN, right: 16 },
  });
  drawn.svg.append(line(drawn.left, drawn.y(0), drawn.right, drawn.y(0), "axis"));
  const ray = (slope, kind) => {
    const end = slope > 0 ? Math.min(xs[1], ys[1] / slope) : xs[1];
    return line(drawn.x(0), drawn.y(0), drawn.x(end), drawn.y(end * slope), kind);
  };
  const best = present.reduce((a, row) => (a === null || gain(row) > gain(a) ? row : a), null);
  const proportional = best !== null && gain(best) > 0 && comparison.risk[best] > 0;
  if (proportional) drawn.svg.append(ray(gain(best) / comparison.risk[best], "even"));
  drawn.svg.append(path(hull(present.map((row) => [comparison.risk[row], gain(row)]))
    .map(([x, y]) => [drawn.x(x), drawn.y(y)]), "hull"));
  let moving = ray(1, "now");
  drawn.svg.append(moving);
  const centres = present.map((row) => [drawn.x(comparison.risk[row]), drawn.y(gain(row))]);
  const order = [...present.filter((row) => !selected.includes(row)), ...selected.filter((row) => present.includes(row))];
  const marks = order.map((row) => {
    const place = selected.indexOf(row);
    const kind = place < 0 ? "dot other" : `dot s${place}`;
    const made = dot(drawn.x(comparison.risk[row]), drawn.y(gain(row)), place < 0 ? 3.5 : 5.5, kind, SHAPES[place] ?? "circle");
    drawn.svg.append(made);
    const name = `${names[row]}: risk ${decimal(comparison.risk[row], 4)}, gain ${decimal(gain(row), 4)}`;
    return { drawn: made, name, act: () => view.select(row) };
  });
  const labels = order.filter((row) => selected.includes(row)).map((row) => ({
    x: drawn.x(comparison.risk[row]), y: drawn.y(gain(row)), text: cut(names[row]),
    kind: `label t${selected.indexOf(row)}`,
  }));
  placeLabels(drawn.svg, labels, centres, drawn);
  reachable(drawn.svg, marks.reverse());
  drawn.proportional = proportional;
  drawn.moveTo = (alpha) => {
    const next = ray(alpha, "now");
    moving.replaceWith(next);
    moving = next;
  };
  return drawn;
}

// The upper left hull of the points and the origin, by rising risk up to the highest gain.
function hull(points) {
  const sorted = [[0, 0], ...points].sort(([ax, ay], [bx, by]) => ax - bx || by - ay);
  const kept = [];
  for (const point of sorted) {
    while (kept.length > 1 && turns(kept.at(-2), kept.at(-1), point) >= 0) kept.pop();
    kept.push(point);
  }
  const highest = kept.reduce((a, [, y], i) => (y > kept[a][1] ? i : a), 0);
  return kept.slice(0, highest + 1);
}

function turns([ax, ay], [bx, by], [cx, cy]) {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

// A risk measure with the interval of each run, best first; the best runs, and those selected.
function drawIntervals(view, riskMeasure, table, width) {
  const { selected, names } = view;
  const [value, low, high, rank] = ["", "_lo", "_hi"].map((end) => table[`${riskMeasure.id}${end}`])
    .concat([table[`rank_${riskMeasure.id}`]]);
  const rows = names.map((_, row) => row).filter((row) => !Number.isNaN(value[row]))
    .sort((a, b) => value[b] - value[a] || a - b)
    .filter((row, i) => i < MOST_INTERVALS || selected.includes(row));
  const step = 17;
  const margin = { top: 6, right: 16, bottom: 40, left: Math.min(150, width * 0.36) };
  const drawn = chart({
    width, height: margin.top + margin.bottom + step * rows.length, margin, ys: null,
    xs: bounds(rows.flatMap((row) => [value[row], low[row], high[row]])),
    xTitle: `${riskMeasure.title} with its interval`, yTitle: "",
    label: `${riskMeasure.title} of the runs with confidence intervals`,
  });
  const marks = rows.map((row, i) => {
    const y = margin.top + step * (i + 0.5);
    const place = selected.indexOf(row);
    const text = words(margin.left - 8, y + 4, cut(names[row], 20), place < 0 ? "tick" : `label t${place}`, "end");
    drawn.svg.append(text, line(margin.left, y, drawn.right, y, "grid"));
    if (!Number.isNaN(low[row])) drawn.svg.append(line(drawn.x(low[row]), y, drawn.x(high[row]), y, "whisker"));
    const made = dot(drawn.x(value[row]), y, 4.5, place < 0 ? "dot plain" : `dot s${place}`, SHAPES[place] ?? "circle");
    drawn.svg.append(made);
    const d = riskMeasure.decimals;
    const name = `${names[row]}: ${decimal(value[row], d)}, from ${decimal(low[row], d)} to ${decimal(high[row], d)}, rank ${rank[row]}`;
    return { drawn: made, name, act: () => view.select(row) };
  });
  reachable(drawn.svg, marks);
  return drawn;
}

// z of every run on every topic: runs by falling ZRisk, topics by falling mean. The shades go to the
// 98th percentile of |z|, so that one outlier does not grey all the others.
function drawHeatmap(view, measure, table, width) {
  const { comparison, names, selected } = view;
  const zrisk = table.zrisk ?? comparison.above.map((above, row) => above - comparison.below[row]);
  const rows = names.map((_, row) => row).sort((a, b) => zrisk[b] - zrisk[a] || a - b);
  const means = Array.from(measure.topicTotals);
  const topics = means.map((_, q) => q).sort((a, b) => means[b] - means[a] || a - b);
  const z = names.map((_, row) => comparison.departures(row));
  const sizes = z.flatMap((values) => Array.from(values, Math.abs)).sort((a, b) => a - b);
  const most = sizes[Math.floor(0.98 * (sizes.length - 1))] || 1;
  const step = Math.max(5, Math.min(18, 900 / rows.length));
  const margin = { top: 6, right: 16, bottom: 56, left: Math.min(150, width * 0.36) };
  const drawn = chart({
    width, height: margin.top + margin.bottom + step * rows.length, margin, ys: null,
    xs: [0, topics.length], xTitle: "", yTitle: "", label: "z of every run on every topic",
  });
  drawn.svg.append(shape("image", {
    x: drawn.left, y: drawn.top, width: drawn.right - drawn.left, height: step * rows.length,
    preserveAspectRatio: "none", class: "pixels", href: heatImage(rows, topics, z, most),
  }));
  const said = ["topics, from highest to lowest mean", "dark is below expectation", `shades reach |z| = ${short(Number(most.toPrecision(2)))}`];
  said.forEach((text, i) => drawn.svg.append(words((drawn.left + drawn.right) / 2, drawn.bottom + 17 + 16 * i, text, "title", "middle")));
  const every = Math.ceil(11 / step);
  const marks = rows.map((row, i) => {
    const y = drawn.top + step * i;
    const place = selected.indexOf(row);
    if (i % every === 0 || place >= 0) {
      drawn.svg.append(words(drawn.left - 6, y + step / 2 + 4, cut(names[row], 20), place < 0 ? "tick" : `label t${place}`, "end"));
    }
    const strip = shape("rect", { x: drawn.left, y, width: drawn.right - drawn.left, height: step, class: "strip" });
    drawn.svg.append(strip);
    const lowest = topics.reduce((a, q) => (z[row][q] < z[row][a] ? q : a), topics[0]);
    const name = `${names[row]}: ZRisk ${decimal(zrisk[row], 3)}, lowest z ${decimal(z[row][lowest], 2)} on topic ${measure.topics[lowest]}`;
    return { drawn: strip, name, act: () => view.select(row) };
  });
  reachable(drawn.svg, marks);
  return drawn;
}

const SHADES = [[8, 32, 79], [60, 111, 176], [173, 184, 192], [242, 193, 78], [255, 240, 168]];

// A pixel a run and topic: dark is below expectation, light above, in grey print too.
function heatImage(rows, topics, z, most) {
  const canvas = element("canvas", { width: topics.length, height: rows.length });
  const context = canvas.getContext("2d");
  const image = context.createImageData(topics.length, rows.length);
  rows.forEach((row, i) => topics.forEach((q, j) => {
    const at = 2 + 2 * Math.max(-1, Math.min(1, z[row][q] / most));
    const lower = Math.min(3, Math.floor(at));
    const shade = SHADES[lower].map((from, k) => from + (at - lower) * (SHADES[lower + 1][k] - from));
    image.data.set([...shade.map(Math.round), 255], 4 * (i * topics.length + j));
  }));
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}
