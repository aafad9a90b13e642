// The figures, linked to what is selected: curves over alpha, reward against risk, topics of a run.

const CURVE_ALPHAS = Array.from({ length: 41 }, (_, i) => i / 2);
const WIDTH = 520;
const HEIGHT = 320;

// A risk measure over alpha: a line a run, those selected in colour and named.
function drawCurves(state, riskMeasure) {
  const { measure, comparison } = state;
  const { title } = riskMeasure;
  const byAlpha = CURVE_ALPHAS.map((alpha) => comparison.computed(riskMeasure, alpha));
  const curves = measure.runs.map((_, row) => byAlpha.map((values) => values[row]));
  const end = CURVE_ALPHAS[CURVE_ALPHAS.length - 1];
  const drawn = chart(WIDTH, HEIGHT, [0, end], bounds(curves.flat()), "α", title);
  drawn.svg.setAttribute("aria-label", `${title} of every run over alpha; those selected are named`);
  const points = (row) =>
    CURVE_ALPHAS.map((alpha, i) => [drawn.x(alpha), curves[row][i]])
      .filter(([, value]) => Number.isFinite(value))
      .map(([x, value]) => [x, drawn.y(value)]);
  measure.runs.forEach((run, row) => {
    if (!state.selected.includes(row)) {
      drawn.svg.append(tooltip(path(points(row), "curve other"), run));
    }
  });
  const labels = [];
  state.selected.forEach((row, place) => {
    const own = points(row);
    drawn.svg.append(tooltip(path(own, `curve s${place}`), measure.runs[row]));
    if (own.length) labels.push({ y: own[own.length - 1][1] + 4, row, place });
  });
  for (const { y, row, place } of spread(labels, 14, drawn.bottom)) {
    drawn.svg.append(words(drawn.right + 6, y, cut(measure.runs[row]), `label t${place}`, "start"));
  }
  const now = line(0, drawn.top, 0, drawn.bottom, "now");
  drawn.svg.append(now);
  drawn.moveTo = (alpha) => {
    now.setAttribute("transform", `translate(${drawn.x(Math.min(alpha, end))} 0)`);
    now.classList.toggle("beyond", alpha > end);
  };
  return drawn;
}

// Reward against risk, with the line on which gains just outweigh losses counted 1 + alpha times.
function drawTradeoff(state) {
  const { measure, comparison } = state;
  const wide = bounds([0, ...comparison.risk])[1] * 1.05;
  const high = bounds([0, ...comparison.reward])[1] * 1.05;
  const drawn = chart(WIDTH, HEIGHT, [0, wide], [0, high], "Risk: mean loss", "Reward: mean gain");
  drawn.svg.setAttribute("aria-label", "Reward against risk of every run; those selected are named");
  const evenLine = (slope, kind) => {
    const end = Math.min(wide, high / slope);
    return line(drawn.x(0), drawn.y(0), drawn.x(end), drawn.y(end * slope), kind);
  };
  drawn.svg.append(tooltip(evenLine(1, "even"), "α = 0: means are equal"));
  let moving = evenLine(1, "now");
  drawn.svg.append(moving);
  const dot = (row, kind, size) => {
    const at = { cx: drawn.x(comparison.risk[row]), cy: drawn.y(comparison.reward[row]), r: size };
    drawn.svg.append(tooltip(shape("circle", { ...at, class: kind }), measure.runs[row]));
    return at;
  };
  const present = [...measure.runs.keys()].filter((row) => !Number.isNaN(comparison.reward[row]));
  for (const row of present) if (!state.selected.includes(row)) dot(row, "dot other", 3.5);
  const labels = [];
  state.selected.forEach((row, place) => {
    if (Number.isNaN(comparison.reward[row])) return;
    const at = dot(row, `dot s${place}`, 5);
    labels.push({ x: at.cx + 8, y: at.cy + 4, row, place });
  });
  for (const { x, y, row, place } of spread(labels, 13, drawn.bottom)) {
    drawn.svg.append(words(x, y, cut(measure.runs[row]), `label t${place}`, "start"));
  }
  drawn.moveTo = (alpha) => {
    const next = evenLine(1 + alpha, "now");
    next.append(shape("title", {}, "URisk is 0 on this line"));
    moving.replaceWith(next);
    moving = next;
  };
  return drawn;
}

// The differences of one run to the baseline, topic by topic, largest gain first.
function drawTopics(state, row) {
  const { measure, comparison } = state;
  const shown = differencesOf(measure, comparison, row).sort((a, b) => b.delta - a.delta);
  const margin = { ...MARGIN, right: 12, bottom: 30 };
  const heights = bounds([0, ...shown.map((topic) => topic.delta)]);
  const drawn = chart(2 * WIDTH, 280, [0, shown.length], heights, "", "difference", margin);
  const name = measure.runs[row];
  drawn.svg.setAttribute(
    "aria-label",
    `Difference of ${name} to ${comparison.baseline} on each topic, largest gain first`,
  );
  const zero = drawn.y(0);
  const step = drawn.x(1) - drawn.x(0);
  shown.forEach((topic, place) => {
    const y = drawn.y(topic.delta);
    const bar = shape("rect", {
      x: drawn.x(place) + step * 0.1,
      y: Math.min(y, zero),
      width: Math.max(step * 0.8, 0.5),
      height: Math.max(Math.abs(y - zero), 0.5),
      class: topic.delta < 0 ? "bar loss" : "bar gain",
    });
    const text = `topic ${topic.topic}: ${short(topic.score)}, baseline ${short(topic.reference)}`;
    drawn.svg.append(tooltip(bar, text));
  });
  drawn.svg.append(line(drawn.left, zero, drawn.right, zero, "axis"));
  labelTopics(drawn, shown, step);
  return drawn;
}

// The topic's id below each bar where there is room, else below some of them.
function labelTopics(drawn, shown, step) {
  const every = Math.max(1, Math.ceil((9 * Math.max(...shown.map((t) => t.topic.length))) / step));
  shown.forEach((topic, place) => {
    if (place % every) return;
    const x = drawn.x(place + 0.5);
    drawn.svg.append(words(x, drawn.bottom + 17, cut(topic.topic, 10), "tick", "middle"));
  });
}

function differencesOf(measure, comparison, row) {
  const z = comparison.departures(row);
  return measure.topics.map((topic, q) => ({
    topic,
    score: measure.scores[row][q],
    reference: comparison.reference[q],
    delta: measure.scores[row][q] - comparison.reference[q],
    z: z[q],
  }));
}
