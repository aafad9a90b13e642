// What is known of documents that nobody judged: shares, ranges of differences, and what is said of
// them. The sentence and the columns are those of riskcli/analyses/unjudged.py. NaN is unknown.

const NO_DIFFERENCE = 1e-12;
const MUCH_UNJUDGED = 1 / 10;
const UNKNOWN_SHARE = 255;

// A measure's judged shares by run, and, where documents were asked for, by run and topic, and what
// the documents add to each score.
class Judging {
  constructor(packed, topics) {
    this.depth = packed.depth;
    this.rule = packed.rule;
    this.runs = unpacked(packed.runs);
    this.topics = topics;
    this.cutoff = packed.cutoff ?? Infinity;
    this.byTopic = packed.byTopic === undefined ? null : bytesOf(packed.byTopic);
    this.parts = packed.parts ? new Float32Array(bytesOf(packed.parts).buffer) : null;
  }

  // The share of a run on a topic, from 0 to 1.
  share(row, q) {
    const percent = this.byTopic[row * this.topics + q];
    return percent === UNKNOWN_SHARE ? NaN : percent / 100;
  }

  // What the documents of a run add to its score on a topic, the first one first.
  partsOf(row, q) {
    const places = this.parts.length / (this.runs.length * this.topics);
    const from = (row * this.topics + q) * places;
    return this.parts.subarray(from, from + places);
  }
}

// The ranges of the differences to one baseline: rows of numbers for either end.
class Ranges {
  constructor({ low, high, exact }, { runs, topics, weights }) {
    [this.low, this.high] = [low, high].map((end) => inRows(unpacked(end), runs.length, topics.length));
    this.exact = exact;
    this.weights = weights;
  }

  // The ends of the mean difference, and of URisk at alpha.
  ofMean(row) {
    return this.ofUrisk(row, 0);
  }

  ofUrisk(row, alpha) {
    return [this.low, this.high].map((end) => {
      const counted = end[row].map((delta) => (delta < 0 ? (1 + alpha) * delta : delta));
      return sum(weighed(counted, this.weights)) / counted.length;
    });
  }

  // Topics that lose for certain, and those that may.
  losses(row) {
    return [this.high, this.low].map((end) => end[row].filter((delta) => delta < -NO_DIFFERENCE).length);
  }
}

function inRows(values, rows, width) {
  return Array.from({ length: rows }, (_, row) => values.slice(row * width, (row + 1) * width));
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

// What is compared with: its judged share and what it is called; a run where `other` is its row.
function comparedWith(comparison, other, names) {
  if (other !== null) return [comparison.measure.judging.runs[other], names[other]];
  const [share, called] = comparison.judged;
  return [share ?? NaN, called];
}

// The ranges of the differences to that run, or to the comparison's own baseline; null: not known.
function rangesTo(comparison, other) {
  if (other === comparison.own || other === null) return comparison.ranges;
  return comparison.measure.comparisons.find(({ own, ranges }) => own === other && ranges)?.ranges ?? null;
}

// The same of one topic.
function rangeOn(comparison, row, other, q) {
  const ranges = rangesTo(comparison, other);
  return ranges && { low: ranges.low[row][q], high: ranges.high[row][q], exact: ranges.exact };
}

// How much of a run nobody judged, and of what it is compared with, where either is much; else "".
function unjudgedSentence(comparison, row, other, names) {
  const { judging } = comparison.measure;
  if (!judging || row === other) return "";
  const own = judging.runs[row];
  const [share, called] = comparedWith(comparison, other, names);
  if (![own, share].some((judged) => judged < 1 - MUCH_UNJUDGED)) return "";
  const known = rangesTo(comparison, other);
  const parts = [[own, names[row]], [share, called]].filter(([judged]) => !Number.isNaN(judged));
  const said = `Nobody judged ${parts.map(([judged, name]) => `${unjudgedPart(judged)} of ${name}`).join(" and ")} (first ${judging.depth} documents)`;
  if (judging.rule === "condensed") return `${said}; they are taken out of the rankings, as if they were like the judged.`;
  if (known) return `${said}; ${inTheMean(known.ofMean(row), names[row], called)}.`;
  return `${said}; they count as not relevant: differences may be no more than that.`;
}

function inTheMean([low, high], name, called) {
  if (low > NO_DIFFERENCE) return `whatever their grades, in the mean ${name} stays above ${called}`;
  if (high < -NO_DIFFERENCE) return `whatever their grades, in the mean ${name} stays below ${called}`;
  return `in the mean no run is sure to be above or below ${called}`;
}

// As whole per cent; a half goes to the even number, as in Python.
function unjudgedPart(judged) {
  const percent = 100 * (1 - judged);
  const whole = Math.floor(percent);
  const rest = percent - whole;
  return `${rest > 0.5 || (rest === 0.5 && whole % 2) ? whole + 1 : whole} %`;
}

// The columns of ranges at an alpha that the program made no table at: URisk's alone depend on it.
function rangesAt(comparison, alpha) {
  const [{ columns }] = comparison.tables;
  if (!columns.losses_certain) return {};
  const fixed = ["mean_diff_min", "mean_diff_max", "losses_certain", "losses_possible", "judged", "baseline_judged"];
  const found = Object.fromEntries(fixed.map((name) => [name, columns[name]]));
  if (!comparison.ranges) return found;
  const ends = comparison.runs.map((_, row) => (Number.isNaN(columns.losses_certain[row]) ? [NaN, NaN] : comparison.ranges.ofUrisk(row, alpha)));
  return { ...found, urisk_min: Float64Array.from(ends, ([low]) => low), urisk_max: Float64Array.from(ends, ([, high]) => high) };
}
