// The leaderboard as it is copied and saved: a cell for every number, at full precision.

const tableTitles = () => ["run", ...board.columns.flatMap(({ id, title, ends, counts, ranked }) =>
  ends ? [`${title} from`, `${title} to`] : counts ? ["wins", "ties", "losses"] : ranked ? [title, `${title} rank`, `${title} mark`] : [title])];

// A row of the table as cells of their own: value, rank and mark apart, numbers in full.
function tableCells(row) {
  const number = (name) => { const value = shown.table[name]?.[row]; return typeof value === "number" && !Number.isNaN(value) ? value : null; };
  return [names()[row], ...board.columns.flatMap(({ id, text, ends, counts, ranked }) => {
    if (text) return [text(row, shown.table) ?? ""];
    if (ends ?? counts) return (ends ?? counts).map(number);
    return ranked ? [number(id), number(`rank_${id}`), shown.table[`${id}_flag`]?.[row] ?? ""] : [number(id)];
  })];
}

const shownRows = () => board.order.filter((row) => !board.rows[row].row.hidden);

const cellOf = (node) => (node?.nodeType === Node.ELEMENT_NODE ? node : node?.parentElement)?.closest("td, th");

// A selection that goes over several cells of the leaderboard is copied as whole rows of numbers;
// within one cell, as it stands with a hyphen for the minus sign.
function copySelection(event) {
  const chosen = document.getSelection();
  const table = byId("board");
  if (!chosen.rangeCount || chosen.isCollapsed || !chosen.containsNode(table, true)) return;
  const [from, to] = [cellOf(chosen.anchorNode), cellOf(chosen.focusNode)];
  const rows = shownRows().filter((row) => chosen.containsNode(board.rows[row].row, true));
  const text = from && from === to && table.contains(from)
    ? chosen.toString().replaceAll("−", "-") : asTabbed(tableTitles(), rows.map(tableCells));
  event.clipboardData.setData("text/plain", text);
  event.preventDefault();
}

function machine() {
  const extra = measureNow().name;
  return machineRows(shown.comparison, extra, shown.table, state.alpha, data.columns, shownRows());
}

const fileName = () => `leaderboard-${measureNow().name}-alpha${state.alpha}`.replace(/[^\w.@-]+/g, "_");

function asJson() {
  const settings = { ...data.envelope.settings, alphas: [state.alpha], baselines: [shown.comparison.baseline] };
  return `${JSON.stringify({ ...data.envelope, settings, rows: machine() }, null, 2)}\n`;
}

async function toClipboard(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { class: "hidden" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("done").textContent = said;
}
