// The page: what has to change when a choice does. A choice changes the state; what hangs on it is
// drawn anew before the next frame, and the address says the state.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const measures = data.measures.map((packed) => new Measure(data, packed));
const start = startState(data, measures);
const board = new Leaderboard(byId("board"), (row) => toggle(row), (id) => sortBy(id));
const topicsTable = new Sorted(byId("all-topics"), { id: "delta", falling: false }, ({ q }) => openTopic(q));
const sideTable = new Sorted(byId("measures"), { id: "0", falling: true });
const PAPER = { half: 330, whole: 680 };
const windows = FITTING.map(([rem, columns]) => ({ columns, query: matchMedia(`(max-width: ${rem}rem)`) }));
const narrow = windows[0].query;
let state = start;
let shown = {};
let waiting = null;
let addressWaits = null;
let laterWaits = null;
let paper = false;

const measureNow = () => measures[state.measure];
const names = () => (data.about ? data.about.map(({ name }) => name) : measureNow().runs);
const ofNow = () => data.riskMeasures.find(({ id }) => id === state.of);

// Changes the state; all that it concerns is shown before the next frame.
function change(changes, { push = true } = {}) {
  state = { ...state, ...changes };
  waiting ??= requestAnimationFrame(() => { waiting = null; render(); });
  clearTimeout(addressWaits);
  if (push) keepAddress(true);
  else addressWaits = setTimeout(() => keepAddress(false), 250);
}

function keepAddress(push) {
  const address = addressOf(state, start, data, measures);
  if (address === location.hash) return;
  history[push ? "pushState" : "replaceState"](null, "", address || location.pathname + location.search);
}

function takeAddress() {
  state = stateFrom(location.hash, start, data, measures);
  render();
}

// Shows the state. Each part is drawn again only where something that it hangs on has changed.
function render() {
  const comparison = comparisonOf(measures, state);
  const columns = visibleColumns(comparison);
  const layout = columns.map(({ id }) => id).join();
  const before = shown;
  const width = byId("app").clientWidth;
  shown = { ...before, ...state, comparison, layout, width };
  const changed = (...keys) => keys.some((key) => shown[key] !== before[key]);
  const compared = changed("comparison");
  showControls(compared);
  if (compared || changed("layout")) buildBoard(columns, comparison);
  if (compared || changed("layout", "alpha")) fillBoard(comparison);
  else if (changed("sort")) board.arrange(state.sort);
  if (compared || changed("layout", "find")) showCount();
  const selected = selection();
  if (compared || changed("layout", "runs")) board.mark(selected);
  if (compared || changed("runs", "of", "width")) showFigures(selected);
  for (const drawing of shown.drawings ?? []) drawing.moveTo?.(state.alpha);
  if (compared || changed("runs", "against", "topic", "width")) showPair(selected);
  if (compared || changed("runs", "of", "width")) showDetails();
  if (changed("alpha")) afterwards(() => { board.finish(); showPairNumbers(selection()); showDetails(); });
}

// What hangs on alpha out of sight waits until alpha rests.
function afterwards(show) {
  clearTimeout(laterWaits);
  byId("app").setAttribute("aria-busy", "true");
  laterWaits = setTimeout(() => { show(); byId("app").setAttribute("aria-busy", "false"); }, 120);
}

function selection() {
  return state.runs ?? (shown.comparison.first ??= firstSelection(shown.comparison));
}

// The best run by each of some measures that is not the baseline; the best mean comes last.
function firstSelection({ own, tables: [{ columns }] }) {
  const best = ["mean", "georisk", "urisk"].map((id) => {
    const values = Array.from(columns[id] ?? [], (value, row) => (row === own ? NaN : value));
    return orderOf(values, values.length, true).find((row) => !Number.isNaN(values[row]));
  });
  return [...new Set(best.filter((row) => row !== undefined))].reverse();
}

function visibleColumns(comparison) {
  const all = columnsFor(data, comparison);
  const asked = all.filter(({ id }) => state.columns?.includes(id));
  if (asked.length) return asked;
  const most = windows.find(({ query }) => query.matches)?.columns;
  return all.filter(({ id, shown: usual }) => (most ? most.includes(id) || id === state.sort.id : usual));
}

function addChoices(select, titles, value) {
  const old = Array.from(select.options, (option) => option.text);
  if (old.length !== titles.length || old.some((title, i) => title !== titles[i])) {
    select.replaceChildren(...titles.map((title, i) => element("option", { value: i }, title)));
    select.disabled = titles.length < 2;
  }
  select.value = value;
}

// The controls say the state, whatever a browser may have put into them.
function showControls() {
  const { comparisons } = measureNow();
  const baselines = [...new Set(comparisons.map(({ baseline }) => baseline))];
  const populations = comparisons.filter(({ baseline }) => baseline === state.baseline).map(({ population }) => population);
  addChoices(byId("measure"), measures.map(({ name }) => name), state.measure);
  addChoices(byId("baseline"), baselines, baselines.indexOf(state.baseline));
  addChoices(byId("population"), populations.map(populationTitle), populations.indexOf(state.population));
  byId("population-choice").hidden = populations.length < 2;
  const curves = curveMeasures();
  addChoices(byId("curve"), curves.map(({ title }) => title), curves.findIndex(({ id }) => id === state.of));
  byId("slider").value = state.alpha;
  if (Number(byId("alpha").value) !== state.alpha || byId("alpha").value === "") byId("alpha").value = state.alpha;
  byId("alpha").setAttribute("aria-invalid", "false");
  if (byId("filter").value !== state.find) byId("filter").value = state.find;
  byId("weight").textContent = short(1 + state.alpha);
}

function populationTitle(population) {
  if (population === "all") return "all runs";
  if (population === "baselines") return "the baselines and the run itself";
  return measureNow().comparisons.find((each) => each.population === population).populationTitle;
}

// The risk measures that can be drawn over alpha.
function curveMeasures() {
  return data.riskMeasures.filter(({ id, dependsOnAlpha }) => dependsOnAlpha && FORMULAS[id]);
}

function buildBoard(columns, comparison) {
  board.build(columns, names(), comparison, narrow.matches ? 8 : 24);
  byId("population-key").textContent = populationTitle(comparison.population);
  const boxes = columnsFor(data, comparison).map(({ id, title }) => {
    const label = element("label");
    const box = element("input", { type: "checkbox", value: id, autocomplete: "off" });
    box.checked = columns.some((column) => column.id === id);
    label.append(box, ` ${title}`);
    return label;
  });
  const all = element("button", { type: "button" }, "All");
  all.addEventListener("click", () => change({ columns: columnsFor(data, comparison).map(({ id }) => id) }));
  const usual = element("button", { type: "button" }, "Usual ones");
  usual.addEventListener("click", () => change({ columns: null }));
  byId("column-choice").replaceChildren(all, usual, ...boxes);
  byId("columns").querySelector("summary").textContent = `Columns: ${columns.length} of ${boxes.length}`;
}

function fillBoard(comparison) {
  shown.table = tableAt(comparison, state.alpha);
  board.fill(shown.table, state.sort);
  describe(comparison);
  byId("verdict").replaceChildren(...verdict(comparison).map((text) => element("p", {}, text)));
  byId("finding").textContent = finding(comparison);
}

function sortBy(id) {
  const column = board.columns.find((each) => each.id === id);
  const falling = state.sort.id === id ? !state.sort.falling : id !== "run" && id !== "team" && !column?.lowFirst;
  change({ sort: { id, falling } });
}

function setAlpha(text, control) {
  const alpha = Number(text);
  const known = text !== "" && Number.isFinite(alpha) && alpha >= 0;
  control.setAttribute("aria-invalid", String(!known));
  if (known) change({ alpha }, { push: false });
}

function toggle(row) {
  const selected = selection();
  const rest = selected.filter((other) => other !== row);
  change({ runs: rest.length < selected.length ? rest : [...rest, row].slice(-MOST_SELECTED), against: state.against === row ? null : state.against });
}

function openTopic(q) {
  change({ topic: state.topic === q ? null : q });
}

function showCount() {
  const found = board.filter(state.find);
  byId("count").textContent = `${found} of ${measureNow().runs.length} runs`;
}

// The chosen runs beside the controls, where they stay in sight; each can be let go there.
function showChosen(selected) {
  const items = selected.map((row, place) => {
    const button = element("button", { type: "button", class: `t${place}`, title: "let go" }, names()[row]);
    button.append(element("span", { class: "off" }, " ×"));
    button.addEventListener("click", () => toggle(row));
    return button;
  });
  const link = element("a", { href: "#run" }, "topics ↓");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    byId("run").scrollIntoView();
  });
  byId("chosen").replaceChildren("Chosen: ", ...(items.length ? [...items, link] : ["no run"]));
}

function listenToControls() {
  const on = (id, event, act) => byId(id).addEventListener(event, ({ target }) => act(target));
  on("measure", "change", ({ value }) => chooseMeasure(Number(value)));
  on("baseline", "change", (select) => choose({ baseline: select.selectedOptions[0].text }));
  on("population", "change", ({ value }) => {
    const same = measureNow().comparisons.filter(({ baseline }) => baseline === state.baseline);
    choose({ population: same[Number(value)].population });
  });
  on("slider", "input", (slider) => setAlpha(slider.value, byId("alpha")));
  on("alpha", "input", (input) => setAlpha(input.value, input));
  on("filter", "input", ({ value }) => change({ find: value }, { push: false }));
  on("curve", "change", ({ value }) => change({ of: curveMeasures()[Number(value)].id }));
  on("one", "change", ({ value }) => change({ runs: [...selection().filter((row) => row !== Number(value)), Number(value)].slice(-MOST_SELECTED) }));
  on("other", "change", ({ value }) => chooseOther(Number(value)));
  on("column-choice", "change", () => change({ columns: Array.from(byId("column-choice").querySelectorAll("input:checked"), ({ value }) => value) }));
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
}

// Another measure has other comparisons, and may have other topics.
function chooseMeasure(measure) {
  const topic = state.topic === null ? -1 : measures[measure].topics.indexOf(measureNow().topics[state.topic]);
  choose({ measure, topic: topic < 0 ? null : topic });
}

function choose(changes) {
  const next = { ...state, ...changes };
  const { baseline, population } = comparisonOf(measures, next);
  change({ ...changes, baseline, population });
}

function chooseOther(value) {
  const { own } = shown.comparison;
  const row = own === null ? value - 1 : value;
  change({ against: row < 0 || row === own ? null : row });
}

function listenToTools() {
  byId("copy").addEventListener("click", () => toClipboard(asTabbed(tableTitles(), shownRows().map(tableCells)), "table copied"));
  byId("board").parentElement.addEventListener("scroll", () => board.finish());
  byId("link").addEventListener("click", () => { keepAddress(false); toClipboard(location.href, "link copied"); });
  byId("csv").addEventListener("click", () => download(`${fileName()}.csv`, "text/csv", asCsv(data.columns, machine())));
  byId("json").addEventListener("click", () => download(`${fileName()}.json`, "application/json", asJson()));
  document.addEventListener("copy", copySelection);
  for (const id of ["intervals", "side", "heat"]) byId(id).addEventListener("toggle", showDetails);
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape") hideTip(); });
}

// Figures as wide as their place on paper, so that their letters can be read there; and back.
function drawFor(onPaper) {
  paper = onPaper;
  showFigures(selection());
  for (const drawing of shown.drawings) drawing.moveTo(state.alpha);
  showPair(selection());
  showDetails();
}

// The window: its address, its width, its paper.
function listenToWindow() {
  addEventListener("popstate", takeAddress);
  addEventListener("hashchange", takeAddress);
  addEventListener("pageshow", takeAddress);
  addEventListener("resize", () => change({}, { push: false }));
  for (const { query } of windows) query.addEventListener("change", () => change({}, { push: false }));
  addEventListener("beforeprint", () => { byId("meanings").open = true; board.finish(); drawFor(true); });
  addEventListener("afterprint", () => drawFor(false));
}

state = stateFrom(location.hash, start, data, measures);
byId("app").hidden = false;
render();
listenToControls();
listenToTools();
listenToWindow();
window.requestIdleCallback?.(() => trusted(shown.comparison));
