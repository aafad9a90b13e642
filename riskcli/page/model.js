// The risk measures in JavaScript, from the sums that the page carries: a second implementation of
// riskcli/risk, compared with it in tests/page/test_document_model.py. No formula looks at the document.
// NaN is undefined.

const ROUNDING = 1e-12;
const EXPECTED_ROUNDING = 16 * 2 ** -52;
const NEARLY_NOTHING = 1e-6;
const LOST = 1e-290;
const SIGNS = { "+": "better", "-": "worse", ".": "" };
const COUNTED = ["wins", "ties", "losses", "losses20", "reward", "risk"];

// What the page computes by itself, by the id of the risk measure: the value of a run, and, where
// there is a test, each run's effect and uncorrected p-value. Other measures are the table's alone,
// and so is a test `ofDifference` where the program shuffles runs within topics.
const FORMULAS = {
  mean: {
    value: (c, row) => c.mean[row],
    ofDifference: true,
    test: (c) => c.paired((row) => c.urisk(row, 0), (row) => c.trisk(row, 0)),
  },
  urisk: { value: (c, row, alpha) => c.urisk(row, alpha) },
  trisk: {
    value: (c, row, alpha) => c.trisk(row, alpha),
    test: (c, alpha) => c.paired((row) => c.trisk(row, alpha), (row) => c.trisk(row, alpha)),
  },
  zrisk: {
    value: (c, row, alpha) => c.zrisk(row, alpha),
    ofDifference: true,
    test: (c, alpha, values) => c.byJackknife("zrisk", alpha, values, c.topics.length),
  },
  georisk: {
    value: (c, row, alpha) => c.georisk(row, alpha),
    ofDifference: true,
    test: (c, alpha, values) => c.byJackknife("georisk", alpha, values, 1),
  },
};

function unpacked(text) {
  const bytes = bytesOf(text);
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

// A column of the table: flags, whole numbers or names as a list, or packed doubles.
function unpackedColumn(name, column) {
  if (name.endsWith("_flag")) return Array.from(column, (character) => SIGNS[character]);
  if (typeof column === "string") return unpacked(column);
  if (column.some((value) => typeof value === "string")) return column;
  return Float64Array.from(column, (value) => value ?? NaN);
}

// 0 where both are 0, infinite where only the error is.
function ratioToError(estimate, error) {
  return estimate === 0 && error === 0 ? 0 : estimate / error;
}

function columnTotals(rows, chosen, topics) {
  const totals = new Float64Array(topics);
  for (const row of chosen) for (let q = 0; q < topics; q += 1) totals[q] += rows[row][q];
  return totals;
}

// One effectiveness measure: its scores as rows of numbers, and its comparisons.
class Measure {
  constructor(data, packed) {
    const all = unpacked(packed.scores);
    this.name = packed.name;
    this.runs = packed.runs;
    this.topics = packed.topics;
    const width = this.topics.length;
    this.weights = packed.weights ? unpacked(packed.weights) : null; // by topic, 1 on average
    this.degrees = packed.degrees ?? width - 1;
    this.scores = inRows(all, this.runs.length, width);
    this.topicTotals = columnTotals(this.scores, this.runs.keys(), width);
    this.queries = packed.queries ?? null;
    this.judging = packed.judging ? new Judging(packed.judging, width) : null;
    this.ranges = (packed.ranges ?? []).map((each) => new Ranges(each, this));
    this.comparisons = packed.comparisons.map((each) => new Comparison(data, this, each));
  }
}

// One effectiveness measure against one baseline, within one population.
class Comparison {
  constructor(data, measure, packed) {
    this.data = data;
    this.measure = measure;
    this.family = packed.family;
    this.runs = measure.runs;
    this.topics = measure.topics;
    this.weights = measure.weights;
    this.scores = measure.scores;
    this.baseline = packed.baseline;
    this.population = packed.population;
    this.own = packed.own;
    this.shuffled = packed.shuffled;
    this.correctionTitle = packed.correctionTitle;
    this.verdict = packed.verdict;
    this.verdictAlpha = packed.verdictAlpha;
    this.judged = packed.judged ?? null;
    this.ranges = measure.ranges[packed.ranges] ?? null;
    this.members = packed.members;
    this.named = packed.named;
    this.reference = unpacked(packed.scores);
    for (const name of ["mean", "varGain", "varLoss", "covariance", ...COUNTED]) {
      this[name] = unpacked(packed[name]);
    }
    this.unit = packed.unit ? unpacked(packed.unit) : null;
    this.hasNegative = packed.above === null;
    this.above = this.hasNegative ? null : unpacked(packed.above);
    this.below = this.hasNegative ? null : unpacked(packed.below);
    this.sharesPopulation = packed.sharesPopulation;
    this.populationTitle = packed.populationTitle;
    this.memberTotals = packed.memberTotals === null ? null : unpacked(packed.memberTotals);
    this.inside = new Set(packed.inside);
    this.allTotals = measure.topicTotals;
    this.namedTotals = columnTotals(this.scores, this.named, this.topics.length);
    this.references = this.members.length ? this.members : this.runs.map((_, row) => row);
    this.jackknife = new Jackknife(this);
    this.tables = packed.tables.map(({ alpha, columns }) => ({
      alpha,
      columns: Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [name, unpackedColumn(name, column)]),
      ),
    }));
    this.known = null;
  }

  // T, the topics' totals over the population of a run.
  totalsOf(row) {
    if (this.memberTotals) {
      if (this.inside.has(row)) return this.memberTotals;
      return this.memberTotals.map((total, q) => total + this.scores[row][q]);
    }
    if (this.sharesPopulation) return this.allTotals;
    if (this.named.includes(row)) return this.namedTotals;
    return this.namedTotals.map((total, q) => total + this.scores[row][q]);
  }

  // z of one run on every topic, within the population of the run `home`.
  departures(row, home = row) {
    const totals = this.totalsOf(home);
    const grand = sum(weighed(totals, this.weights));
    const share = grand > 0 ? sum(weighed(this.scores[row], this.weights)) / grand : 0;
    return this.scores[row].map((x, q) => standardised(x, share, totals[q]));
  }

  zrisk(row, alpha) {
    return this.above[row] - (1 + alpha) * this.below[row];
  }

  georisk(row, alpha) {
    return Math.sqrt(this.mean[row] * normal(this.zrisk(row, alpha) / this.topics.length));
  }

  urisk(row, alpha) {
    return this.reward[row] - (1 + alpha) * this.risk[row];
  }

  trisk(row, alpha) {
    const weight = 1 + alpha;
    const variance =
      this.varGain[row] - 2 * weight * this.covariance[row] + weight ** 2 * this.varLoss[row];
    const unit = this.unit === null ? 1 : this.unit[row];
    return ratioToError(this.urisk(row, alpha), unit * Math.sqrt(variance / this.topics.length));
  }

  paired(effect, t) {
    const { degrees } = this.measure;
    return {
      effect: this.runs.map((_, row) => effect(row)),
      p: this.runs.map((_, row) => studentP(t(row), degrees)),
    };
  }

  // The jackknife test of each run's difference to the baseline, as the program makes it.
  byJackknife(name, alpha, values, scale) {
    const topics = this.topics.length;
    const effect = this.differences(name, alpha, values);
    const isVoid = this.references.every((row) => this.mean[row] === 0);
    const noise = scale * ROUNDING * Math.sqrt(Math.max(...this.mean));
    const errors = topics > 1 ? this.jackknife.errors(name, alpha) : null;
    const p = this.runs.map((_, row) => {
      if (errors === null || isVoid || row === this.own || this.mean[row] === 0) return NaN;
      const error = errors[row] * scale;
      const nothing = Math.abs(effect[row]) <= noise && error <= noise;
      const t = ratioToError(nothing ? 0 : effect[row], error <= noise ? 0 : error);
      return studentP(t, this.measure.degrees);
    });
    return { effect, p };
  }

  // Each run's value less the mean of the reference runs, measured in the same population.
  differences(name, alpha, values) {
    const mean = (met) => sum(met) / met.length;
    if (this.sharesPopulation) {
      const reference = mean(this.references.map((row) => values[row]));
      return values.map((value) => value - reference);
    }
    return values.map(
      (value, run) => value - mean(this.references.map((row) => this.valueWithin(name, row, run, alpha))),
    );
  }

  // ZRisk or GeoRisk of the run `row` measured in the population of the run `home`.
  valueWithin(name, row, home, alpha) {
    let zrisk = 0;
    for (const z of weighed(this.departures(row, home), this.weights)) zrisk += z < 0 ? (1 + alpha) * z : z;
    if (name === "zrisk") return zrisk;
    return Math.sqrt(this.mean[row] * normal(zrisk / this.topics.length));
  }

  // The measure's value of every run by the page's own formula; null where it has none.
  computed(measure, alpha) {
    const formula = FORMULAS[measure.id];
    if (!formula) return null;
    const undefined_ = measure.nonnegative && this.hasNegative;
    return Float64Array.from(this.runs, (_, row) => (undefined_ ? NaN : formula.value(this, row, alpha)));
  }

  // The other baselines, where each is compared with in turn: all are one family of tests.
  siblings() {
    if (this.family === null) return [];
    return this.measure.comparisons.filter((each) => each !== this && each.family === this.family);
  }

  // Effects and p-values by the page's own test, corrected and flagged; null where it has none.
  tested(measure, alpha, values) {
    const test = FORMULAS[measure.id]?.test;
    if (!test) return null;
    if (measure.nonnegative && this.hasNegative) return untested(this.runs.length);
    // Teams and frozen runs are not on the page, which a test against their mean would need.
    if (measure.nonnegative && this.memberTotals) return null;
    const { effect, p } = test(this, alpha, values);
    const others = this.siblings().map((each) => test(each, alpha, each.computed(measure, alpha)).p);
    const all = [p, ...others].flatMap((each) => Array.from(each));
    const adjusted = adjust(all, this.data.correction).slice(0, p.length);
    const flags = Array.from(adjusted, (value, row) => {
      if (!(value < this.data.gamma) || effect[row] === 0) return "";
      return effect[row] > 0 ? "better" : "worse";
    });
    return { p, adjusted, flags };
  }
}

function untested(runs) {
  const none = new Float64Array(runs).fill(NaN);
  return { p: none, adjusted: none, flags: new Array(runs).fill("") };
}
