// The page: what is chosen, and what has to change when a choice does.

const MOST_SELECTED = 6;
const WORST = 10;

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const measures = data.measures.map((packed) => new Measure(data, packed));
const state = { measure: null, comparison: null, alpha: data.alphas[0], selected: [], drawings: [] };
const board = new Leaderboard(byId("board"), data.riskMeasures, toggle);

function addChoices(select, names) {
  select.replaceChildren(...names.map((name, place) => element("option", { value: place }, name)));
  select.disabled = names.length < 2;
}

function chooseMeasure(place) {
  state.measure = measures[place];
  const names = state.measure.comparisons.map((comparison) => comparison.baseline);
  const before = Number(byId("baseline").value) || 0;
  addChoices(byId("baseline"), names);
  byId("baseline").value = Math.min(before, names.length - 1);
  chooseBaseline(Number(byId("baseline").value));
}

function chooseBaseline(place) {
  state.comparison = state.measure.comparisons[place];
  board.build(state.measure, state.comparison);
  const { population } = state.comparison;
  byId("population").textContent =
    population === "all" ? "all runs" : "the baselines and the run itself";
  board.filter(byId("filter").value);
  recompute();
  if (!state.selected.length) state.selected = firstSelection();
  showSelection();
}

// The best by each measure: where they differ, there is something to see. The best mean is last.
function firstSelection() {
  const best = ["mean", "georisk", "urisk"].map((name) => board.table[`rank_${name}`].indexOf(1));
  return [...new Set(best.filter((row) => row >= 0))].reverse();
}

function recompute() {
  board.fill(tableAt(state.comparison, state.alpha));
  describe();
  byId("weight").textContent = short(1 + state.alpha);
  for (const drawing of state.drawings) drawing.moveTo(state.alpha);
}

function setAlpha(text, from) {
  const alpha = Number(text);
  const known = text !== "" && Number.isFinite(alpha) && alpha >= 0;
  byId("alpha").setAttribute("aria-invalid", String(!known));
  if (!known) return;
  state.alpha = alpha;
  for (const id of ["alpha", "slider"]) if (id !== from) byId(id).value = alpha;
  recompute();
  showWorst();
}

function toggle(row) {
  const rest = state.selected.filter((other) => other !== row);
  state.selected = rest.length < state.selected.length ? rest : [...rest, row].slice(-MOST_SELECTED);
  showSelection();
}

function showSelection() {
  board.mark(state.selected);
  const curves = drawCurves(state, curveMeasures()[Number(byId("curve").value)]);
  const tradeoff = drawTradeoff(state);
  byId("curves").replaceChildren(curves.svg);
  byId("tradeoff").replaceChildren(tradeoff.svg);
  state.drawings = [curves, tradeoff];
  for (const drawing of state.drawings) drawing.moveTo(state.alpha);
  const current = state.selected[state.selected.length - 1];
  byId("run").hidden = current === undefined;
  if (current === undefined) return;
  byId("run-name").textContent = state.measure.runs[current];
  byId("topics").replaceChildren(drawTopics(state, current).svg);
  showWorst();
}

// The topics on which the current run loses most; for the baseline itself, by z.
function showWorst() {
  const current = state.selected[state.selected.length - 1];
  if (current === undefined) return;
  const { measure, comparison, alpha } = state;
  const own = current === comparison.own;
  const topics = differencesOf(measure, comparison, current);
  topics.sort((a, b) => (own ? a.z - b.z : a.delta - b.delta));
  const rows = topics.slice(0, WORST).map((topic) => {
    const row = element("tr");
    const counted = topic.delta < 0 ? (1 + alpha) * topic.delta : topic.delta;
    row.append(element("th", { scope: "row" }, topic.topic));
    const values = [topic.score, topic.reference, topic.delta, counted];
    row.append(...values.map((value) => element("td", {}, decimal(value, 4))));
    row.append(element("td", {}, comparison.hasNegative ? "–" : decimal(topic.z, 3)));
    return row;
  });
  byId("worst").tBodies[0].replaceChildren(...rows);
}

function showFilter() {
  const shown = board.filter(byId("filter").value);
  byId("count").textContent = `${shown} of ${state.measure.runs.length} runs`;
}

// The test behind the marks, and what the page does not compute at this alpha.
function describe() {
  byId("level").textContent = `γ = ${data.gamma} (${data.correctionTitle}, over the runs of a column)`;
  const { values, tests } = missingAt(state.comparison, state.alpha);
  const alphas = `α = ${data.alphas.map(short).join(", ")} only.`;
  const parts = [];
  if (values.length) parts.push(`${values.join(", ")}: computed at ${alphas}`);
  if (tests.length) parts.push(`Marks ▲ ▼ of ${tests.join(", ")}: tested at ${alphas}`);
  byId("fixed").textContent = parts.join(" ");
}

// The risk measures that can be drawn over alpha.
function curveMeasures() {
  return data.riskMeasures.filter((measure) => measure.dependsOnAlpha && FORMULAS[measure.id]);
}

function listen() {
  byId("measure").addEventListener("change", (event) => {
    chooseMeasure(Number(event.target.value));
    showFilter();
  });
  byId("baseline").addEventListener("change", (event) => chooseBaseline(Number(event.target.value)));
  byId("slider").addEventListener("input", (event) => setAlpha(event.target.value, "slider"));
  byId("alpha").addEventListener("input", (event) => setAlpha(event.target.value, "alpha"));
  byId("filter").addEventListener("input", showFilter);
  byId("curve").addEventListener("change", showSelection);
}

addChoices(byId("measure"), data.measures.map((measure) => measure.name));
byId("slider").value = state.alpha;
byId("alpha").value = state.alpha;
addChoices(byId("curve"), curveMeasures().map((measure) => measure.title));
byId("curve").value = curveMeasures().findIndex((measure) => measure.id === "georisk");
listen();
chooseMeasure(0);
showFilter();
byId("app").hidden = false;
