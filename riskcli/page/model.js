// The measures, from the sums that the page carries. No formula here looks at the document.

const RANKED = ["mean", "urisk", "trisk", "zrisk", "georisk"];
const ROUNDING = 1e-12;
const EXPECTED_ROUNDING = 16 * 2 ** -52;

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

// The data with its matrices as rows of numbers.
function prepared(data) {
  for (const measure of data.measures) {
    const all = unpacked(measure.scores);
    const topics = measure.topics.length;
    measure.scores = measure.runs.map((_, row) => all.slice(row * topics, (row + 1) * topics));
    measure.topicTotals = columnTotals(measure.scores, measure.runs.keys());
    for (const comparison of measure.comparisons) {
      comparison.scores = unpacked(comparison.scores);
      comparison.namedTotals = columnTotals(measure.scores, comparison.named);
      comparison.jackknife = new Jackknife(measure, comparison);
    }
  }
  return data;
}

function columnTotals(rows, chosen) {
  const totals = new Float64Array(rows[0].length);
  for (const row of chosen) rows[row].forEach((x, q) => { totals[q] += x; });
  return totals;
}

// T, the topics' totals over the population of a run.
function totalsOf(measure, comparison, row) {
  if (comparison.population === "all") return measure.topicTotals;
  if (comparison.named.includes(row)) return comparison.namedTotals;
  return comparison.namedTotals.map((total, q) => total + measure.scores[row][q]);
}

// The runs whose mean ZRisk or GeoRisk a run's is compared with; all for a virtual baseline.
function referencesOf(measure, comparison) {
  return comparison.members.length ? comparison.members : measure.runs.map((_, row) => row);
}

// z of one run on every topic.
function departures(measure, comparison, row) {
  const totals = totalsOf(measure, comparison, row);
  const own = measure.scores[row].reduce((sum, x) => sum + x, 0);
  const grand = totals.reduce((sum, x) => sum + x, 0);
  return measure.scores[row].map((x, q) => {
    const expected = grand > 0 ? (own * totals[q]) / grand : 0;
    const departure = x - expected;
    if (expected <= 0 || Math.abs(departure) <= EXPECTED_ROUNDING * expected) return 0;
    return departure / Math.sqrt(expected);
  });
}

function zriskOf(comparison, row, alpha) {
  return comparison.above[row] - (1 + alpha) * comparison.below[row];
}

function georiskOf(measure, comparison, row, alpha) {
  const zeta = zriskOf(comparison, row, alpha) / measure.topics.length;
  return Math.sqrt(measure.mean[row] * normal(zeta));
}

function uriskOf(comparison, row, alpha) {
  if (comparison.reward[row] === null) return null;
  return comparison.reward[row] - (1 + alpha) * comparison.risk[row];
}

function triskOf(measure, comparison, row, alpha) {
  if (comparison.varGain[row] === null) return null;
  const weight = 1 + alpha;
  const variance =
    comparison.varGain[row] -
    2 * weight * comparison.covariance[row] +
    weight ** 2 * comparison.varLoss[row];
  const error = Math.sqrt(variance / measure.topics.length);
  return Number.isNaN(error) ? null : ratioToError(uriskOf(comparison, row, alpha), error);
}

// 0 where both are 0, infinite where only the error is.
function ratioToError(estimate, error) {
  return estimate === 0 && error === 0 ? 0 : estimate / error;
}

// One value of one run, as the curves need it.
function valueOf(name, measure, comparison, row, alpha) {
  if (name === "mean") return measure.mean[row];
  if (name === "urisk") return uriskOf(comparison, row, alpha);
  if (name === "trisk") return triskOf(measure, comparison, row, alpha);
  if (comparison.above === null) return null;
  if (name === "zrisk") return zriskOf(comparison, row, alpha);
  return georiskOf(measure, comparison, row, alpha);
}

// The whole table at one alpha: an array a column, with ranks, adjusted p-values and flags.
function tableAt(data, measure, comparison, alpha) {
  const table = {};
  for (const name of ["wins", "ties", "losses", "losses20", "reward", "risk"]) {
    table[name] = comparison[name];
  }
  for (const name of RANKED) {
    table[name] = measure.runs.map((_, row) => valueOf(name, measure, comparison, row, alpha));
    table[`rank_${name}`] = ranked(table[name]);
  }
  const degrees = measure.topics.length - 1;
  const gain = measure.runs.map((_, row) => uriskOf(comparison, row, 0));
  const t = measure.runs.map((_, row) => triskOf(measure, comparison, row, 0));
  flagged(data, table, "mean", gain, t.map((value) => studentP(value, degrees)));
  flagged(data, table, "trisk", table.trisk, table.trisk.map((value) => studentP(value, degrees)));
  if (comparison.above !== null) {
    for (const name of ["zrisk", "georisk"]) {
      testPopulation(data, table, measure, comparison, alpha, name);
    }
  }
  return table;
}

function flagged(data, table, name, effect, p) {
  const adjusted = adjust(p, data.correction);
  table[`${name}_p`] = adjusted;
  table[`${name}_flag`] = adjusted.map((value, row) => {
    if (value === null || !(value < data.gamma) || effect[row] === 0) return "";
    return effect[row] > 0 ? "better" : "worse";
  });
}

// The jackknife test of each run's difference to the baseline, as the program makes it.
function testPopulation(data, table, measure, comparison, alpha, name) {
  const topics = measure.topics.length;
  const scale = name === "zrisk" ? topics : 1;
  const references = referencesOf(measure, comparison);
  const difference = differences(table[name], measure, comparison, references, alpha, name);
  const void_ = references.every((row) => measure.mean[row] === 0);
  const noise = scale * ROUNDING * Math.sqrt(Math.max(...measure.mean));
  const errors = topics > 1 ? comparison.jackknife.errors(name, alpha) : null;
  const p = measure.runs.map((_, row) => {
    if (errors === null || void_ || row === comparison.own || measure.mean[row] === 0) return null;
    const error = errors[row] * scale;
    if (Math.abs(difference[row]) <= noise && error <= noise) return 1;
    return studentP(ratioToError(difference[row], error), topics - 1);
  });
  flagged(data, table, name, difference, p);
}

function differences(values, measure, comparison, references, alpha, name) {
  if (comparison.population === "all") {
    const reference = references.reduce((sum, row) => sum + values[row], 0) / references.length;
    return values.map((value) => value - reference);
  }
  return values.map((value, run) => {
    const met = references.map((row) => valueWithin(measure, comparison, row, run, alpha, name));
    return value - met.reduce((sum, one) => sum + one, 0) / met.length;
  });
}

// ZRisk or GeoRisk of the run `row` measured in the population of the run `home`.
function valueWithin(measure, comparison, row, home, alpha, name) {
  const totals = totalsOf(measure, comparison, home);
  const moved = { population: "all", named: [] };
  const z = departures({ scores: measure.scores, topicTotals: totals }, moved, row);
  const zrisk = z.reduce((sum, one) => sum + (one < 0 ? (1 + alpha) * one : one), 0);
  return name === "zrisk"
    ? zrisk
    : Math.sqrt(measure.mean[row] * normal(zrisk / measure.topics.length));
}
