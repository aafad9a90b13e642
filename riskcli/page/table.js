// The leaderboard: built once for a measure and a baseline, then refilled as alpha moves.

const MARKS = { better: "▲", worse: "▼" };

// A column for each risk measure; between those that know no alpha and the others, what the
// comparison with the baseline is made of.
function columnsFor(riskMeasures) {
  const column = ({ id, title, decimals }) => ({ id, title, decimals, ranked: true });
  return [
    ...riskMeasures.filter((measure) => !measure.dependsOnAlpha).map(column),
    { id: "record", title: "W/T/L", key: "wins", decimals: 0 },
    { id: "losses20", title: "L>20%", decimals: 0 },
    { id: "reward", title: "Reward", decimals: 4 },
    { id: "risk", title: "Risk", decimals: 4 },
    ...riskMeasures.filter((measure) => measure.dependsOnAlpha).map(column),
  ];
}

function decimal(value, decimals) {
  if (value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

class Leaderboard {
  // `select` is called with the row of a run that is chosen.
  constructor(table, riskMeasures, select) {
    this.head = table.tHead;
    this.body = table.tBodies[0];
    this.columns = columnsFor(riskMeasures);
    this.select = select;
    this.order = { id: "mean", falling: true };
    this.buttons = new Map();
    this.addHeadings();
  }

  addHeadings() {
    const row = element("tr");
    for (const column of [{ id: "run", title: "run" }, ...this.columns]) {
      const cell = element("th", { scope: "col", "data-column": column.id });
      const button = element("button", { type: "button" }, column.title);
      button.addEventListener("click", () => this.sortBy(column.id));
      cell.append(button);
      row.append(cell);
      this.buttons.set(column.id, cell);
    }
    this.head.append(row);
  }

  sortBy(id) {
    const same = this.order.id === id;
    this.order = { id, falling: same ? !this.order.falling : id !== "run" };
    this.arrange();
  }

  // New rows, for another measure or baseline.
  build(measure, comparison) {
    this.runs = measure.runs;
    this.lower = measure.runs.map((run) => run.toLowerCase());
    this.rows = measure.runs.map((run, row) => this.addRow(run, row, comparison));
    this.body.replaceChildren(...this.rows.map((made) => made.row));
  }

  addRow(run, row, comparison) {
    const made = element("tr");
    const head = element("th", { scope: "row" });
    const button = element("button", { type: "button", "aria-pressed": "false" }, run);
    button.addEventListener("click", () => this.select(row));
    head.append(button);
    if (comparison.members.includes(row)) head.append(element("span", { class: "base" }, " ◆"));
    made.append(head);
    const cells = {};
    for (const column of this.columns) {
      const cell = element("td", { "data-column": column.id });
      const parts = [element("span"), element("span", { class: "mark" })];
      if (column.ranked) parts.push(element("span", { class: "rank" }));
      cell.append(...parts);
      made.append(cell);
      cells[column.id] = { cell, parts };
    }
    return { row: made, button, cells };
  }

  fill(table) {
    this.table = table;
    this.rows.forEach((made, row) => {
      for (const column of this.columns) this.fillCell(made.cells[column.id], column, row);
    });
    this.arrange();
  }

  fillCell({ cell, parts: [value, mark, rank] }, column, row) {
    if (column.id === "record") {
      const counts = ["wins", "ties", "losses"].map((name) => this.table[name][row]);
      value.textContent = Number.isNaN(counts[0]) ? "–" : counts.join("/");
      return;
    }
    const number = this.table[column.id]?.[row] ?? NaN;
    value.textContent = decimal(number, column.decimals);
    if (Number.isNaN(number)) delete cell.dataset.value;
    else cell.dataset.value = number;
    if (rank) rank.textContent = this.table[`rank_${column.id}`]?.[row] || "";
    this.fillMark(cell, mark, this.table[`${column.id}_flag`]?.[row] ?? "");
  }

  fillMark(cell, mark, flag) {
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
  arrange() {
    const { id, falling } = this.order;
    for (const [column, cell] of this.buttons) {
      if (column === id) cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
    const key = this.columns.find((column) => column.id === id)?.key ?? id;
    const values = id === "run" ? this.runs.map((_, row) => row) : this.table[key] ?? [];
    const missing = (row) => Number.isNaN(values[row] ?? NaN);
    const order = [...this.rows.keys()].sort((i, j) => {
      if (missing(i) || missing(j)) return missing(i) - missing(j) || i - j;
      const less = values[i] - values[j];
      return (Number.isNaN(less) ? 0 : falling ? -less : less) || i - j;
    });
    const current = [...this.body.children];
    if (order.every((row, place) => current[place] === this.rows[row].row)) return;
    const focused = document.activeElement;
    this.body.append(...order.map((row) => this.rows[row].row));
    if (this.body.contains(focused)) focused.focus({ preventScroll: true });
  }

  // Only the runs whose names hold the text; answers how many.
  filter(text) {
    const wanted = text.trim().toLowerCase();
    let shown = 0;
    this.rows.forEach((made, row) => {
      const hidden = !this.lower[row].includes(wanted);
      made.row.hidden = hidden;
      shown += hidden ? 0 : 1;
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
