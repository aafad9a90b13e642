// What the page shows at an alpha: the table's own numbers where the program made a table at that
// alpha, else what the page computes by itself. A measure or a test that the page computes otherwise
// than the table, or does not know, is not computed at all: it is the table's alone.

const AGREEMENT = 1e-9;

// Whether two columns say the same. The table has no infinite values: they are undefined there.
function agree(computed, given, tolerance = AGREEMENT) {
  return Array.from(given).every((value, row) => {
    const own = computed[row];
    if (Number.isNaN(value)) return !Number.isFinite(own);
    return Math.abs(own - value) <= tolerance * Math.max(1e-3, Math.abs(value));
  });
}

// Which measures and tests the page may compute: those that agree with every table there is.
function trusted(comparison) {
  if (comparison.known) return comparison.known;
  const known = { values: new Set(), tests: new Set() };
  for (const measure of comparison.data.riskMeasures) {
    let values = true;
    let tests = true;
    for (const { alpha, columns } of comparison.tables) {
      const own = comparison.computed(measure, alpha);
      values &&= own !== null && agree(own, columns[measure.id]);
      const flags = columns[`${measure.id}_flag`];
      tests &&= values && Boolean(flags) && sameTest(comparison.tested(measure, alpha, own), columns, measure.id);
    }
    if (values) known.values.add(measure.id);
    const shuffled = comparison.shuffled && FORMULAS[measure.id]?.ofDifference;
    if (tests && !shuffled) known.tests.add(measure.id);
  }
  comparison.known = known;
  return known;
}

function sameTest(tested, columns, id) {
  if (tested === null || !agree(tested.adjusted, columns[`${id}_p_adj`], 1e-6)) return false;
  return tested.flags.every((flag, row) => flag === columns[`${id}_flag`][row]);
}

// The table at one alpha: a column a name, as in machine formats.
function tableAt(comparison, alpha) {
  const given = comparison.tables.find((table) => table.alpha === alpha);
  return given ? givenTable(comparison, given) : computedTable(comparison, alpha);
}

// The program's own table; infinite values, which it has no number for, are the page's.
function givenTable(comparison, { alpha, columns }) {
  const table = { ...columns };
  for (const measure of comparison.data.riskMeasures) {
    const own = comparison.computed(measure, alpha);
    const restored = own && columns[measure.id].map((value, row) =>
      Number.isNaN(value) && Math.abs(own[row]) === Infinity ? own[row] : value);
    if (restored) table[measure.id] = restored;
  }
  return table;
}

function computedTable(comparison, alpha) {
  const known = trusted(comparison);
  const table = {};
  for (const name of COUNTED) table[name] = comparison[name];
  for (const measure of comparison.data.riskMeasures) {
    Object.assign(table, columnsOf(comparison, measure, alpha, known));
  }
  return Object.assign(table, rangesAt(comparison, alpha));
}

// A measure's columns at an alpha that the program made no table at.
function columnsOf(comparison, measure, alpha, known) {
  const { id } = measure;
  if (!measure.dependsOnAlpha) return fixedColumns(comparison, id);
  if (!known.values.has(id)) return {};
  const values = comparison.computed(measure, alpha);
  const found = { [id]: values, [`rank_${id}`]: ranked(values) };
  if (!known.tests.has(id)) return found;
  const { p, adjusted, flags } = comparison.tested(measure, alpha, values);
  return { ...found, [`${id}_p`]: p, [`${id}_p_adj`]: adjusted, [`${id}_flag`]: flags };
}

// What does not depend on alpha is the same in every table.
function fixedColumns(comparison, id) {
  const { columns } = comparison.tables[0];
  const names = Object.keys(columns).filter(
    (name) => name === id || name.startsWith(`${id}_`) || name.startsWith(`rank_${id}`),
  );
  return Object.fromEntries(names.map((name) => [name, columns[name]]));
}

const BESIDE = [["Intervals", /_lo$/], ["letters", /_letters$/], ["# range", /_min$/]];

// What is not computed at this alpha: titles of whole measures, of tests, and of what stands beside.
function missingAt(comparison, alpha) {
  const missing = { values: [], tests: [], beside: [] };
  if (comparison.tables.some((table) => table.alpha === alpha)) return missing;
  const known = trusted(comparison);
  for (const { id, title, dependsOnAlpha } of comparison.data.riskMeasures) {
    const isTested = comparison.tables.some((table) => `${id}_flag` in table.columns);
    if (!dependsOnAlpha) continue;
    if (!known.values.has(id)) missing.values.push(title);
    else if (isTested && !known.tests.has(id)) missing.tests.push(title);
  }
  const names = comparison.tables.flatMap(({ columns }) => Object.keys(columns));
  missing.beside = BESIDE.filter(([, ending]) => names.some((name) => ending.test(name))).map(([title]) => title);
  return missing;
}
