// Distributions in double precision, ranks, and corrections for the number of tests.
// NaN is undefined: a run without a value has no rank, a run without a test no p-value.

const TINY = 1e-300;
const EPSILON = 1e-16;

// erf by its series of positive terms; good for small x.
function erfSeries(x) {
  let term = x;
  let sum = x;
  for (let n = 1; term > EPSILON * sum; n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

// erfc by its continued fraction, evaluated by Lentz's method; good for large x.
function erfcFraction(x) {
  let f = x;
  let c = x;
  let d = 0;
  for (let n = 1; n < 500; n += 1) {
    d = 1 / (x + (n / 2) * d);
    c = x + n / 2 / c;
    f *= c * d;
    if (Math.abs(c * d - 1) < EPSILON) break;
  }
  return Math.exp(-x * x) / (f * Math.sqrt(Math.PI));
}

// Phi(x), the standard normal distribution.
function normal(x) {
  const size = Math.abs(x) / Math.SQRT2;
  if (size < 1.5) return 0.5 + Math.sign(x) * 0.5 * erfSeries(size);
  const tail = 0.5 * erfcFraction(size);
  return x < 0 ? tail : 1 - tail;
}

// Gamma((n + 1) / 2) / Gamma(n / 2), exact but for rounding: by its series for large n.
function gammaRatio(n) {
  let large = n;
  let times = 1;
  for (; large < 400; large += 2) times *= large / (large + 1);
  const i = 1 / large;
  return times * Math.sqrt(large / 2) * (1 - i / 4 + i ** 2 / 32 + (5 * i ** 3) / 128 - (21 * i ** 4) / 2048);
}

function lifted(value) {
  return Math.abs(value) < TINY ? TINY : value;
}

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
function betaFraction(a, b, x) {
  let c = 1;
  let d = 1 / lifted(1 - ((a + b) * x) / (a + 1));
  let f = d;
  for (let m = 1; m < 1000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / lifted(1 + even * d);
    c = lifted(1 + even / c);
    f *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / lifted(1 + odd * d);
    c = lifted(1 + odd / c);
    f *= c * d;
    if (Math.abs(c * d - 1) < EPSILON) break;
  }
  return f;
}

// The two-sided p-value of Student's t; none below 3 topics, or where a standard error of 0 makes t
// infinite.
function studentP(t, degrees) {
  if (!Number.isFinite(t) || degrees < 2) return NaN;
  const x = degrees / (degrees + t * t);
  const beside = (t * t) / (degrees + t * t);
  const scale = (gammaRatio(degrees) / Math.sqrt(Math.PI)) * Math.sqrt(beside) * x ** (degrees / 2);
  if (x < (degrees + 2) / (degrees + 5)) {
    return (scale * betaFraction(degrees / 2, 0.5, x)) / (degrees / 2);
  }
  return 1 - 2 * scale * betaFraction(0.5, degrees / 2, beside);
}

function bySize(p) {
  return p.map((_, i) => i).sort((i, j) => p[i] - p[j]);
}

function holm(p) {
  const adjusted = new Array(p.length);
  let least = 0;
  bySize(p).forEach((i, before) => {
    least = Math.max(least, p[i] * (p.length - before));
    adjusted[i] = Math.min(least, 1);
  });
  return adjusted;
}

function benjaminiHochberg(p) {
  const adjusted = new Array(p.length);
  let most = 1;
  const order = bySize(p);
  for (let k = p.length - 1; k >= 0; k -= 1) {
    most = Math.min(most, (p[order[k]] * p.length) / (k + 1));
    adjusted[order[k]] = most;
  }
  return adjusted;
}

const CORRECTIONS = {
  holm,
  bonferroni: (p) => p.map((value) => Math.min(value * p.length, 1)),
  bh: benjaminiHochberg,
  none: (p) => p,
};

// Adjusted p-values; NaN is no test, and stays NaN.
function adjust(p, method) {
  const all = Array.from(p);
  const adjusted = CORRECTIONS[method](all.filter((value) => !Number.isNaN(value)));
  let next = 0;
  return Float64Array.from(all, (value) => (Number.isNaN(value) ? NaN : adjusted[next++]));
}

// The values to twelve digits, and 0 for what is nothing beside the others.
function withoutRounding(values) {
  let most = 0;
  for (const value of values) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  const least = 1e-14 * Math.min(most, 1);
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    return Math.abs(value) < least ? 0 : Number(value.toPrecision(12));
  });
}

// 1 for the highest; equal values share the smaller rank; NaN has none. Values that differ by
// rounding only are equal.
function ranked(values) {
  const kept = withoutRounding(values);
  const falling = Array.from(kept).filter((value) => !Number.isNaN(value)).sort((a, b) => b - a);
  const first = new Map();
  falling.forEach((value, before) => {
    if (!first.has(value)) first.set(value, before + 1);
  });
  return kept.map((value) => first.get(value) ?? NaN);
}
