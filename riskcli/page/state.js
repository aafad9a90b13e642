// What is chosen, and the address that says so: a link, a reload or Back bring the same page.

const MOST_SELECTED = 6;

// The state that a page without an address opens with.
function startState(data, measures) {
  return {
    measure: 0, baseline: measures[0].comparisons[0].baseline, population: measures[0].comparisons[0].population,
    alpha: data.alphas[0], sort: { id: "mean", falling: true }, find: "",
    runs: null, against: null, topic: null,
    of: data.riskMeasures.find(({ id }) => id === "georisk")?.id ?? data.riskMeasures.at(-1).id,
    columns: null,
  };
}

// The comparison that a state asks for, or the nearest there is.
function comparisonOf(measures, state) {
  const all = measures[state.measure].comparisons;
  const same = all.filter(({ baseline }) => baseline === state.baseline);
  return same.find(({ population }) => population === state.population) ?? same[0] ?? all[0];
}

// The address of a state: names, not numbers, and only what differs from the start.
function addressOf(state, start, data, measures) {
  const measure = measures[state.measure];
  const said = new URLSearchParams();
  const say = (key, value, usual) => { if (value !== usual) said.append(key, value); };
  say("measure", measure.name, measures[start.measure].name);
  say("baseline", state.baseline, start.baseline);
  say("population", state.population, start.population);
  say("alpha", String(state.alpha), String(start.alpha));
  say("sort", `${state.sort.falling ? "-" : ""}${state.sort.id}`, `-${start.sort.id}`);
  say("find", state.find, "");
  say("of", state.of, start.of);
  if (state.columns) said.append("columns", state.columns.join(","));
  if (state.runs) {
    if (!state.runs.length) said.append("run", "");
    for (const row of state.runs) said.append("run", measure.runs[row]);
  }
  if (state.against !== null) said.append("against", measure.runs[state.against]);
  if (state.topic !== null) said.append("topic", measure.topics[state.topic]);
  const text = said.toString();
  return text && `#${text}`;
}

// The state that an address describes; what it says of things that are not there is passed over.
function stateFrom(address, start, data, measures) {
  const said = new URLSearchParams(address.replace(/^#/, ""));
  const state = { ...start };
  const named = measures.findIndex(({ name }) => name === said.get("measure"));
  if (named >= 0) state.measure = named;
  const measure = measures[state.measure];
  const alpha = Number(said.get("alpha") || NaN);
  if (Number.isFinite(alpha) && alpha >= 0) state.alpha = alpha;
  state.baseline = said.get("baseline") ?? start.baseline;
  state.population = said.get("population") ?? start.population;
  const comparison = comparisonOf(measures, state);
  state.baseline = comparison.baseline;
  state.population = comparison.population;
  const sort = said.get("sort");
  if (sort) state.sort = { id: sort.replace(/^-/, ""), falling: sort.startsWith("-") };
  state.find = said.get("find") ?? "";
  const drawn = ({ id, dependsOnAlpha }) => dependsOnAlpha && FORMULAS[id] && id === said.get("of");
  if (data.riskMeasures.some(drawn)) state.of = said.get("of");
  if (said.has("columns")) state.columns = said.get("columns").split(",").filter(Boolean);
  const row = (name) => measure.runs.indexOf(name);
  const runs = said.getAll("run").map(row).filter((r) => r >= 0);
  if (runs.length || said.get("run") === "") state.runs = runs.slice(0, MOST_SELECTED);
  if (row(said.get("against")) >= 0) state.against = row(said.get("against"));
  const topic = measure.topics.indexOf(said.get("topic"));
  state.topic = topic >= 0 ? topic : null;
  return state;
}
