// The exact delete-one-topic jackknife of ZRisk/c and GeoRisk, every marginal computed again.
//
// Without topic q a run's share of its population's total is s = (S - x_q) / (N - T_q), and
// z_t = x_t / sqrt(s T_t) - sqrt(s T_t) is above 0 where x_t / T_t > s. With the topics sorted by
// x / T, the sums of z above and below 0 are differences of suffix sums: O(c log c) a run. A topic
// that is nearly all of a sum leaves only rounding behind: there the others are added up.

// Of one run, for each topic left out: the sums of z above and below 0, and the mean score.
// A topic of weight w is that topic w times.
function withoutEachTopic(scores, totals, weights) {
  const topics = scores.length;
  const counted = [weighed(scores, weights), weighed(totals, weights)];
  const [own, grand] = counted.map(sumsOfOthers);
  const profile = sortedProfile(scores, totals, weights);
  const hidden = [...counted, profile.scaled].map((values) => nearlyAll(values));
  const above = new Float64Array(topics);
  const below = new Float64Array(topics);
  const left = own.map((_, q) => (weights === null ? Math.max(topics - 1, 1) : topics - weights[q]));
  const mean = own.map((rest, q) => rest / left[q]);
  for (let out = 0; out < topics; out += 1) {
    const share = grand[out] > 0 ? own[out] / grand[out] : 0;
    if (share <= 0) continue;
    if (hidden.some((isHidden) => isHidden[out])) {
      scores.forEach((x, q) => {
        const z = q === out ? 0 : (weights?.[q] ?? 1) * standardised(x, share, totals[q]);
        above[out] += Math.max(z, 0);
        below[out] += Math.max(-z, 0);
      });
      continue;
    }
    const rootShare = Math.sqrt(share);
    const first = firstBeyond(profile.ratio, share);
    const isAbove = profile.of[out] > share ? 1 : 0;
    const part = (from, without) =>
      (profile.scaledAfter[from] - without * profile.scaled[out]) / rootShare -
      rootShare * (profile.rootAfter[from] - without * profile.root[out]);
    const alone = part(first, isAbove);
    above[out] = Math.max(alone, 0);
    below[out] = Math.max(alone - part(0, 1), 0);
  }
  return { above, below, mean, left };
}

// x / sqrt(T), sqrt(T) (times the weight) and x / T by topic, the last in rising order too, with
// suffix sums in it.
function sortedProfile(scores, totals, weights) {
  const topics = scores.length;
  const roots = totals.map(Math.sqrt);
  const scaled = weighed(scores.map((x, q) => (totals[q] > 0 ? x / roots[q] : 0)), weights);
  const root = weighed(roots, weights);
  const of = scores.map((x, q) => (totals[q] > 0 ? x / totals[q] : -1));
  const order = Uint32Array.from(of, (_, q) => q).sort((i, j) => of[i] - of[j]);
  const scaledAfter = new Float64Array(topics + 1);
  const rootAfter = new Float64Array(topics + 1);
  for (let k = topics - 1; k >= 0; k -= 1) {
    scaledAfter[k] = scaledAfter[k + 1] + scaled[order[k]];
    rootAfter[k] = rootAfter[k + 1] + root[order[k]];
  }
  const ratio = Float64Array.from(order, (q) => of[q]);
  return { root, scaled, of, ratio, scaledAfter, rootAfter };
}

// The first place in rising values that is greater than the bound.
function firstBeyond(rising, bound) {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Where a value is nearly the sum of all.
function nearlyAll(values) {
  const total = sum(values);
  return Array.from(values, (value) => value <= total && value > (1 - NEARLY_NOTHING) * total);
}

// For each value the sum of the others.
function sumsOfOthers(values) {
  const total = sum(values);
  const hidden = nearlyAll(values);
  const others = (out) => sum(values.map((value, q) => (q === out ? 0 : value)));
  return values.map((value, q) => (hidden[q] ? others(q) : Math.max(total - value, 0)));
}

// z of a score, where a run has that share of the topic's total.
function standardised(x, share, total) {
  const expected = share * total;
  const departure = x - expected;
  if (Math.abs(departure) <= EXPECTED_ROUNDING * expected) return 0;
  const isLost = expected < LOST;
  const root = isLost ? Math.sqrt(share) * Math.sqrt(total) : Math.sqrt(expected);
  return root > 0 ? departure / root : 0;
}

// What each topic adds to a sum; without weights all count the same.
function weighed(values, weights) {
  return weights === null ? values : values.map((value, q) => value * weights[q]);
}

function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i += 1) total += values[i];
  return total;
}

// What is jackknifed, for each topic left out.
function replicates(deleted, name, alpha) {
  return deleted.mean.map((mean, q) => {
    const zeta = (deleted.above[q] - (1 + alpha) * deleted.below[q]) / deleted.left[q];
    return name === "zrisk" ? zeta : Math.sqrt(mean * normal(zeta));
  });
}

function jackknifeError(values) {
  const topics = values.length;
  if (values.every((value) => value === values[0])) return 0;
  const mean = sum(values) / topics;
  let squares = 0;
  for (let q = 0; q < topics; q += 1) squares += (values[q] - mean) ** 2;
  return Math.sqrt((squares * (topics - 1)) / topics);
}

function meanOfRows(rows) {
  const mean = new Float64Array(rows[0].length);
  for (const row of rows) for (let q = 0; q < mean.length; q += 1) mean[q] += row[q];
  return mean.map((total) => total / rows.length);
}

// The runs' rows left out topic by topic; computed when first asked for, and kept.
class Jackknife {
  constructor(comparison) {
    this.comparison = comparison;
    this.kept = new Map();
  }

  // The run `row` left out topic by topic, within the population of the run `home`.
  deleted(row, home) {
    const key = this.comparison.sharesPopulation ? row : `${row} ${home}`;
    if (!this.kept.has(key)) {
      const totals = this.comparison.totalsOf(home);
      this.kept.set(key, withoutEachTopic(this.comparison.scores[row], totals, this.comparison.weights));
    }
    return this.kept.get(key);
  }

  // The error of each run's difference to the reference runs.
  errors(name, alpha) {
    const { references, runs, sharesPopulation } = this.comparison;
    const of = (row, home) => replicates(this.deleted(row, home), name, alpha);
    const own = runs.map((_, run) => of(run, run));
    const shared = sharesPopulation ? meanOfRows(references.map((row) => own[row])) : null;
    return own.map((values, run) => {
      const reference = shared ?? meanOfRows(references.map((row) => of(row, run)));
      return jackknifeError(values.map((value, q) => value - reference[q]));
    });
  }
}
