// A table of rows that sorts itself by its headings. Columns are {id, title, value, text},
// and `rising` where the least comes first.
class Sorted {
  constructor(table, sorting, act = null) {
    this.table = table;
    this.sorting = sorting;
    this.act = act;
  }

  show(columns, rows, current = null) {
    Object.assign(this, { columns, rows, current });
    const head = element("tr");
    for (const { id, title } of columns) {
      const cell = element("th", { scope: "col", "data-column": id });
      const button = element("button", { type: "button" }, title);
      button.addEventListener("click", () => this.by(id));
      if (id === this.sorting.id) cell.setAttribute("aria-sort", this.sorting.falling ? "descending" : "ascending");
      cell.append(button);
      head.append(cell);
    }
    this.table.tHead.replaceChildren(head);
    this.fill();
  }

  by(id) {
    const same = this.sorting.id === id;
    const { rising } = this.columns.find((column) => column.id === id);
    this.sorting = { id, falling: same ? !this.sorting.falling : !rising && id !== this.columns[0].id };
    this.show(this.columns, this.rows, this.current);
    this.table.tHead.querySelector(`[data-column="${CSS.escape(id)}"] button`).focus();
  }

  fill() {
    const [first, ...rest] = this.columns;
    const by = this.columns.find(({ id }) => id === this.sorting.id) ?? first;
    const order = orderOf(this.rows.map(by.value), this.rows.length, this.sorting.falling);
    this.table.tBodies[0].replaceChildren(...order.map((i) => {
      const row = this.rows[i];
      const made = element("tr", this.current !== null && row.q === this.current ? { class: "open" } : {});
      const head = element("th", { scope: "row" });
      if (this.act) {
        const button = element("button", { type: "button" }, first.text(row));
        button.addEventListener("click", () => this.act(row));
        head.append(button);
      } else head.textContent = first.text(row);
      made.append(head, ...rest.map((column) => element("td", { "data-column": column.id }, column.text(row))));
      return made;
    }));
  }
}
