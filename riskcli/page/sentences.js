// What the page says of the table in words: its key, what is missing, who leads.

// The test behind the marks, and what the page does not compute at this alpha.
function describe(comparison) {
  byId("level").textContent = `significance level γ = ${data.gamma} (${comparison.correctionTitle}, over the runs of a column${comparison.siblings().length ? " and all baselines" : ""})`;
  const spans = data.riskMeasures.some(({ id }) => shown.table[`rank_${id}_lo`]);
  byId("board").classList.toggle("spans", spans);
  const ranges = board.columns.some(({ id }) => id === "georisk_range") && shown.table.rank_georisk_min;
  byId("rank-key").textContent = (spans ? ", in brackets the ranks that cannot be ruled out" : "") +
    (ranges ? ", # range those by GeoRisk with each other run or team left out of the population" : "") +
    (board.columns.some(({ letters }) => letters) ? `; runs that share a letter are not significantly different (tests of every pair; ${data.pairs})` : "");
  const { values, tests, beside } = missingAt(comparison, state.alpha);
  const alphas = `α = ${data.alphas.map(short).join(", ")} only.`;
  const parts = [];
  if (values.length) parts.push(`${values.join(", ")}: computed at ${alphas}`);
  if (tests.length) parts.push(`Marks ▲ ▼ of ${tests.join(", ")}: tested at ${alphas}`);
  if (beside.length) parts.push(`${beside.join(", ")}: computed at ${alphas}`);
  byId("fixed").textContent = parts.join(" ");
}

// The program's own sentences; they were made at one alpha, which is said at any other.
function verdict(comparison) {
  const [first, ...others] = comparison.verdict;
  const { verdictAlpha: alpha } = comparison;
  if (!first || alpha === null || alpha === state.alpha) return comparison.verdict;
  return [`At α = ${short(alpha)}: ${first}`, ...others];
}

// Who leads by the measure of the curves, and who may be as good.
function finding(comparison) {
  const { id, title } = ofNow();
  const rank = shown.table[`rank_${id}`] ?? [];
  const best = Array.from(rank.keys()).filter((row) => rank[row] === 1);
  if (!best.length) return "";
  if (rank.length < 2) return "";
  const lowest = shown.table[`rank_${id}_lo`];
  const leads = best.length === 1 ? `${names()[best[0]]} leads` : `${best.length} runs share the lead`;
  const where = `by ${title} of ${measureNow().name} at α = ${short(state.alpha)}, over ${comparison.topics.length} topics`;
  if (!lowest) return `${leads} ${where}; how certain that is was computed at α = ${data.alphas.map(short).join(", ")} only.`;
  const others = Array.from(lowest).filter((low, row) => low === 1 && !best.includes(row)).length;
  if (!others) return `${leads} ${where}; of the other runs that were tested, each is significantly below another.`;
  return `${leads} ${where}; ${others} other ${others === 1 ? "run" : "runs"} may be the best as well.`;
}
