// The documents of two runs on one topic, side by side, and what each accounts for.

// Both rankings: of each document its place here and there, its grade (null: unjudged) and its part
// of the difference: what it adds to the first run's score less what it adds to the second's.
function sharedRanking(known, rows, { judging, scores }, q) {
  const rankings = rows.map((row) => known.runs[row] ?? []);
  const parts = judging?.parts ? rows.map((row) => judging.partsOf(row, q)) : null;
  const places = rankings.map((ranking) => new Map(ranking.map((doc, place) => [doc, place])));
  const partOf = (side, doc) => parts[side][places[side].get(doc)] ?? 0;
  const lists = rankings.map((ranking, side) => ranking.map((doc, place) => ({
    docno: known.docnos[doc], grade: known.grades[doc], place, there: places[1 - side].get(doc) ?? null,
    part: parts ? partOf(0, doc) - partOf(1, doc) : null,
  })));
  return { lists, delta: scores[rows[0]][q] - scores[rows[1]][q] };
}

// What lost, gained and moved documents account for, and what those below do; they add up to delta.
function accountedFor({ lists: [own, others], delta }) {
  const total = (list) => sum(list.map(({ part }) => part));
  const kinds = {
    gained: total(own.filter(({ there }) => there === null)),
    lost: total(others.filter(({ there }) => there === null)),
    moved: total(own.filter(({ there }) => there !== null)),
  };
  return { ...kinds, below: delta - sum(Object.values(kinds)) };
}

function accounted(shared) {
  if (![...shared.lists[0], ...shared.lists[1]].some(({ part }) => part !== null)) return "";
  const { gained, lost, moved, below } = accountedFor(shared);
  const rest = Math.abs(below) >= 5e-5 ? `, those below ${signed(below)}` : "";
  return `Its part is what a document adds to the difference of ${signed(shared.delta)}: lost documents ${signed(lost)}, gained ones ${signed(gained)}, those in both ${signed(moved)}${rest}.`;
}

function signed(value) {
  const text = decimal(value, 4);
  return value > 0 && Number(text) !== 0 ? `+${text}` : text;
}

// A table for each side.
function rankedTables({ lists }, names) {
  return lists.map((list, side) => {
    const withParts = list.some(({ part }) => part !== null);
    const table = element("table", { class: "documents" });
    table.append(element("caption", {}, names[side]));
    const head = element("tr");
    const titles = ["#", "document", "grade", "in the other", ...(withParts ? ["its part"] : [])];
    for (const title of titles) head.append(element("th", { scope: "col" }, title));
    const body = element("tbody");
    body.append(...list.map((each) => rankedRow(each, side, withParts)));
    if (!list.length) {
      const row = element("tr");
      row.append(element("td", { colspan: titles.length }, "no document"));
      body.append(row);
    }
    const thead = element("thead");
    thead.append(head);
    table.append(thead, body);
    return table;
  });
}

function rankedRow({ docno, grade, place, there, part }, side, withParts) {
  const row = element("tr", { class: grade === null ? "unjudged" : grade > 0 ? "relevant" : "other" });
  row.append(element("td", {}, String(place + 1)), element("th", { scope: "row" }, docno));
  row.append(element("td", {}, grade === null ? "unjudged" : String(grade)));
  row.append(element("td", {}, there === null ? (side ? "lost" : "gained") : there === place ? "same place" : `#${there + 1}`));
  if (withParts) row.append(element("td", { class: part > 0 ? "gains" : part < 0 ? "loses" : "" }, part === 0 ? "" : signed(part)));
  return row;
}
