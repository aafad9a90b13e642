// The leaderboard, built once for its columns and refilled as alpha moves.

const MARKS = { better: "▲", worse: "▼" };
const FEW_ROWS = 60;
// What of the usual columns fits into windows up to so many rem, the narrowest first.
const FITTING = [
  [40, ["mean", "georisk"]],
  [62, ["mean", "urisk", "trisk", "georisk"]],
  [77, ["mean", "record", "urisk", "trisk", "zrisk", "georisk"]],
];

// All columns there are for a comparison: a risk measure's value with rank and mark, what the
// comparison with the baseline is made of, and details that are shown on demand.
function columnsFor(data, comparison) {
  const has = (name) => comparison.tables.some(({ columns }) => columns[name]?.some?.((v) => !Number.isNaN(v)) ?? false);
  const value = ({ id, title, decimals }) => ({ id, title, decimals, ranked: true, spanned: has(`rank_${id}_lo`), shown: true });
  const details = ({ id, title, decimals }) => [
    has(`${id}_lo`) && { id: `${id}_interval`, title: `${title} interval`, key: `${id}_lo`, ends: [`${id}_lo`, `${id}_hi`], decimals },
    has(`${id}_p_adj`) && { id: `${id}_p_adj`, title: `${title} p`, key: `${id}_p_adj`, p: true, lowFirst: true },
  ].filter(Boolean);
  const range = ({ id, title }) => has(`rank_${id}_min`) && {
    id: `${id}_range`, title: id === "georisk" ? "# range" : `${title} # range`, key: `rank_${id}_min`, ends: [`rank_${id}_min`, `rank_${id}_max`],
    decimals: 0, whole: true, lowFirst: true, shown: id === "georisk",
  };
  const ranged = has("losses_certain");
  const of = (test) => data.riskMeasures.filter(test);
  return [
    data.about && data.about.some(({ team }) => team) && { id: "team", title: "team", text: (row) => data.about[row].team, shown: true },
    ...of(({ dependsOnAlpha }) => !dependsOnAlpha).map(value),
    { id: "record", title: "W/T/L", key: "wins", counts: ["wins", "ties", "losses"], shown: true },
    { id: "losses20", title: "L>20%", decimals: 0, lowFirst: true, shown: true },
    ranged && { id: "losses_range", title: "losses certain–possible", key: "losses_certain", ends: ["losses_certain", "losses_possible"], decimals: 0, whole: true, lowFirst: true, shown: true, folded: 9 },
    { id: "reward", title: "Reward", decimals: 4, shown: !ranged },
    { id: "risk", title: "Risk", decimals: 4, lowFirst: true, shown: !ranged },
    ...of(({ dependsOnAlpha }) => dependsOnAlpha).flatMap((measure) => [value(measure), range(measure)]),
    ...of(() => true).flatMap(details),
    ...[["mean_diff", "mean difference"], ["urisk", "URisk"]].map(([id, title]) => has(`${id}_min`) && {
      id: `${id}_span`, title: `${title} range`, key: `${id}_min`, ends: [`${id}_min`, `${id}_max`], decimals: 4,
    }),
    has("judged") && { id: "judged", title: "judged", decimals: 2 },
    has("mean_dz") && { id: "mean_dz", title: "effect size d", decimals: 2 },
    ...of(({ id }) => has(`${id}_letters`)).map(({ id, title }) => ({
      id: `${id}_letters`, title: `${title} letters`, letters: true, lowFirst: true, text: (row, table) => table[`${id}_letters`]?.[row],
    })),
  ].filter(Boolean);
}

function decimal(value, decimals) {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

function probability(value) {
  if (value === undefined || Number.isNaN(value)) return "–";
  return value < 0.0001 ? "<.0001" : value.toFixed(4).replace(/^0/, "");
}

// What stands beside a column's value: a rank, with the interval it may lie in; or text.
function kindOf({ ranked, spanned, text, folded }) {
  return [ranked && "ranked", spanned && "spanned", text && "words", folded && "folded"].filter(Boolean).join(" ");
}

class Leaderboard {
  // `select` is called with the row of a run, `sort` with the id of a column.
  constructor(table, select, sort) {
    this.head = table.tHead;
    this.body = table.tBodies[0];
    this.select = select;
    this.sort = sort;
  }

  // New rows, for other columns, another measure or another baseline; names show `most` letters.
  build(columns, names, comparison, most) {
    this.columns = columns;
    this.names = names;
    this.table = null;
    this.addHeadings();
    this.lower = names.map((name) => name.toLowerCase());
    this.rows = names.map((name, row) => this.addRow(name, row, comparison));
    this.body.replaceChildren(...this.rows.map((made) => made.row));
    const longest = Math.max(...names.map((name) => name.length));
    this.headings.get("run").style.width = `${Math.max(9, Math.min(longest, most) + 4)}ch`;
  }

  addHeadings() {
    const row = element("tr");
    this.headings = new Map();
    this.widths = new Map();
    for (const column of [{ id: "run", title: "run" }, ...this.columns]) {
      const cell = element("th", { scope: "col", "data-column": column.id, class: kindOf(column) });
      const button = element("button", { type: "button" }, column.title);
      button.addEventListener("click", () => this.sort(column.id));
      cell.append(button);
      row.append(cell);
      this.headings.set(column.id, cell);
    }
    this.head.replaceChildren(row);
  }

  addRow(name, row, comparison) {
    const made = element("tr");
    const head = element("th", { scope: "row" });
    const button = element("button", { type: "button", "aria-pressed": "false", title: name }, name);
    button.addEventListener("click", () => this.select(row));
    head.append(button);
    if (comparison.members.includes(row)) head.append(element("span", { class: "base" }, " ◆"));
    made.append(head);
    const cells = this.columns.map((column) => {
      const cell = element("td", { "data-column": column.id, class: kindOf(column) });
      const value = element("span");
      cell.append(value);
      if (!column.ranked) return { cell, value };
      const mark = element("span", { class: "mark" });
      const rank = element("span", { class: "rank" });
      cell.append(mark, rank);
      return { cell, value, mark, rank };
    });
    made.append(...cells.map(({ cell }) => cell));
    return { row: made, button, cells };
  }

  // The numbers at another alpha; of many rows those in sight first, the others by `finish`.
  fill(table, sort) {
    const few = this.rows.length <= FEW_ROWS || !this.table;
    this.table = table;
    this.arrange(sort);
    this.fillRows(few ? this.rows.keys() : this.rowsInSight());
    this.unfinished = !few;
  }

  finish() {
    if (this.unfinished) this.fillRows(this.rows.keys());
    this.unfinished = false;
  }

  rowsInSight() {
    const box = this.body.parentElement.parentElement;
    this.height ??= this.rows[this.order[0]].row.offsetHeight || 30;
    const first = Math.max(0, Math.floor(box.scrollTop / this.height) - 3);
    const shown = this.order.filter((row) => !this.rows[row].row.hidden);
    return shown.slice(first, first + Math.ceil(box.clientHeight / this.height) + 6);
  }

  fillRows(rows) {
    const longest = this.columns.map(() => 0);
    for (const row of rows) {
      this.columns.forEach((column, i) => {
        longest[i] = Math.max(longest[i], this.fillCell(this.rows[row].cells[i], column, row));
      });
    }
    this.columns.forEach((column, i) => this.widen(column, longest[i]));
  }

  // The columns have widths of their own, and only grow: the browser need not look at every cell
  // to lay out the table each time that alpha moves.
  widen(column, letters) {
    const heading = this.headings.get(column.id);
    const beside = column.spanned ? 8 : column.ranked ? 4.5 : 1.5;
    const title = column.folded ?? column.title.length;
    const wanted = Math.max(letters + (column.ranked ? 2 : 0), title + beside) + 1;
    if (wanted <= (this.widths.get(column.id) ?? 0)) return;
    this.widths.set(column.id, wanted);
    heading.style.width = `${wanted}ch`;
  }

  // Answers how many letters wide the cell has become.
  fillCell(cell, column, row) {
    const text = this.textOf(column, row);
    if (cell.text !== text) cell.value.textContent = cell.text = text;
    const number = column.text ? NaN : this.table[column.key ?? column.id]?.[row] ?? NaN;
    if (!Object.is(cell.number, number)) {
      cell.number = number;
      if (Number.isNaN(number)) delete cell.cell.dataset.value;
      else cell.cell.dataset.value = number;
    }
    if (!column.ranked) return text.length;
    const rank = this.rankOf(column.id, row);
    if (cell.rankText !== rank) cell.rank.textContent = cell.rankText = rank;
    this.fillMark(cell, this.table[`${column.id}_flag`]?.[row] ?? "");
    return text.length + 0.75 * Math.max(2, rank.length);
  }

  textOf(column, row) {
    if (column.text) return column.text(row, this.table) || "–";
    if (column.ends) {
      const ends = column.ends.map((name) => this.table[name]?.[row] ?? NaN);
      if (ends.some(Number.isNaN)) return "–";
      if (column.whole) return ends[0] === ends[1] ? `${ends[0]}` : `${ends[0]}–${ends[1]}`;
      return `[${ends.map((end) => decimal(end, column.decimals)).join(", ")}]`;
    }
    if (column.counts) {
      const counts = column.counts.map((name) => this.table[name][row]);
      return counts.some(Number.isNaN) ? "–" : counts.join("/");
    }
    const value = this.table[column.id]?.[row] ?? NaN;
    return column.p ? probability(value) : decimal(value, column.decimals);
  }

  // The rank, with the interval that it may lie in where the program computed one.
  rankOf(id, row) {
    const rank = this.table[`rank_${id}`]?.[row] || "";
    const [low, high] = ["lo", "hi"].map((end) => this.table[`rank_${id}_${end}`]?.[row]);
    return rank && low && high ? `${rank} (${low === high ? low : `${low}–${high}`})` : String(rank);
  }

  fillMark({ cell, mark }, flag) {
    if ((cell.dataset.flag ?? "") === flag) return;
    cell.dataset.flag = flag;
    mark.textContent = MARKS[flag] ?? "";
    if (flag) {
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", flag);
    } else {
      mark.removeAttribute("role");
      mark.removeAttribute("aria-label");
    }
  }

  // The rows in order; what has no value comes last, equals keep the order of their names.
  arrange({ id, falling }) {
    for (const [column, cell] of this.headings) {
      if (column === id) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    this.order = orderOf(this.valuesOf(id), this.rows.length, falling);
    const current = this.body.children;
    if (this.order.every((row, i) => current[i] === this.rows[row].row)) return;
    const focused = document.activeElement;
    this.body.append(...this.order.map((row) => this.rows[row].row));
    if (this.body.contains(focused)) focused.focus({ preventScroll: true });
  }

  valuesOf(id) {
    if (id === "run") return this.rows.map((_, row) => row);
    const column = this.columns.find((each) => each.id === id);
    if (column?.text) return placesOf(this.rows.map((_, row) => column.text(row, this.table) ?? ""));
    return this.table[column?.key ?? id] ?? [];
  }

  // Only the runs whose names hold the text; answers how many.
  filter(text) {
    const wanted = text.trim().toLowerCase();
    let shown = 0;
    this.rows.forEach((made, row) => {
      made.row.hidden = !this.lower[row].includes(wanted);
      shown += made.row.hidden ? 0 : 1;
    });
    return shown;
  }

  mark(selected) {
    this.rows.forEach((made, row) => {
      const place = selected.indexOf(row);
      made.button.setAttribute("aria-pressed", String(place >= 0));
      made.button.className = place >= 0 ? `t${place}` : "";
    });
  }
}

// The rows by value; what has none comes last either way.
function orderOf(values, count, falling) {
  const missing = (row) => Number.isNaN(values[row] ?? NaN);
  return Array.from({ length: count }, (_, row) => row).sort((i, j) => {
    if (missing(i) || missing(j)) return missing(i) - missing(j) || i - j;
    const less = values[i] - values[j];
    return (Number.isNaN(less) ? 0 : falling ? -less : less) || i - j;
  });
}

// Texts as numbers in their alphabetical order.
function placesOf(texts) {
  const sorted = [...new Set(texts)].sort();
  return texts.map((text) => sorted.indexOf(text));
}
