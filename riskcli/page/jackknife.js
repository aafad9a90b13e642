// The delete-one-topic jackknife of ZRisk/c and GeoRisk, every marginal computed again.

// Of one run, for each topic left out: the sums of z above and below 0, and the mean score.
function withoutEachTopic(scores, totals) {
  const topics = scores.length;
  const scaled = scores.map((x, q) => (totals[q] > 0 ? x / Math.sqrt(totals[q]) : 0));
  const root = totals.map((total) => (total > 0 ? Math.sqrt(total) : 0));
  const own = scores.reduce((sum, x) => sum + x, 0);
  const grand = totals.reduce((sum, x) => sum + x, 0);
  const above = new Float64Array(topics);
  const below = new Float64Array(topics);
  const mean = scores.map((x) => Math.max(own - x, 0) / Math.max(topics - 1, 1));
  for (let out = 0; out < topics; out += 1) {
    const left = grand - totals[out];
    const share = left > 0 ? Math.max(own - scores[out], 0) / left : 0;
    if (share <= 0) continue;
    const rootShare = Math.sqrt(share);
    for (let q = 0; q < topics; q += 1) {
      if (q === out) continue;
      const z = scaled[q] / rootShare - rootShare * root[q];
      if (z > 0) above[out] += z;
      else below[out] -= z;
    }
  }
  return { above, below, mean };
}

// What is jackknifed, for each topic left out.
function replicates(deleted, name, alpha) {
  const left = Math.max(deleted.mean.length - 1, 1);
  return deleted.mean.map((mean, q) => {
    const zeta = (deleted.above[q] - (1 + alpha) * deleted.below[q]) / left;
    return name === "zrisk" ? zeta : Math.sqrt(mean * normal(zeta));
  });
}

function jackknifeError(values) {
  const topics = values.length;
  if (values.every((value) => value === values[0])) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / topics;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt((squares * (topics - 1)) / topics);
}

function meanOfRows(rows) {
  return rows[0].map((_, q) => rows.reduce((sum, row) => sum + row[q], 0) / rows.length);
}

// The runs' rows left out topic by topic; computed when first asked for, and kept.
class Jackknife {
  constructor(measure, comparison) {
    this.measure = measure;
    this.comparison = comparison;
    this.kept = new Map();
  }

  // The run `row` left out topic by topic, within the population of the run `home`.
  deleted(row, home) {
    const key = this.comparison.population === "all" ? row : `${row} ${home}`;
    if (!this.kept.has(key)) {
      const totals = totalsOf(this.measure, this.comparison, home);
      this.kept.set(key, withoutEachTopic(this.measure.scores[row], totals));
    }
    return this.kept.get(key);
  }

  // The error of each run's difference to the reference runs.
  errors(name, alpha) {
    const references = referencesOf(this.measure, this.comparison);
    const of = (row, home) => replicates(this.deleted(row, home), name, alpha);
    const shared =
      this.comparison.population === "all" ? meanOfRows(references.map((row) => of(row, row))) : null;
    return this.measure.runs.map((_, run) => {
      const reference = shared ?? meanOfRows(references.map((row) => of(row, run)));
      return jackknifeError(of(run, run).map((value, q) => value - reference[q]));
    });
  }
}
