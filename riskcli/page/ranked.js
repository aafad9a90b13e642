// The documents of two runs on one topic, side by side, and what each adds to the difference; in the
// words of `riskeval diff`.

const KINDS = ["lost", "new", "in both"];

// Both rankings: of each document its place here and there (from 0), its grade (null: not judged)
// and its part: what it adds to the first run's score less what it adds to the second's.
function sideBySide(known, rows, { judging, scores }, q, depth) {
  const rankings = rows.map((row) => (known.runs[row] ?? []).slice(0, depth));
  const parts = judging?.parts ? rows.map((row) => judging.partsOf(row, q)) : null;
  const places = rankings.map((ranking) => new Map(ranking.map((doc, place) => [doc, place])));
  const partOf = (side, doc) => parts[side][places[side].get(doc)] ?? 0;
  const lists = rankings.map((ranking, side) => ranking.map((doc, place) => {
    const there = places[1 - side].get(doc) ?? null;
    return {
      docno: known.docnos[doc], grade: known.grades[doc], place, there,
      kind: there !== null ? "in both" : side ? "lost" : "new",
      part: parts ? partOf(0, doc) - partOf(1, doc) : null,
    };
  }));
  return { lists, scores: rows.map((row) => scores[row][q]), hasParts: parts !== null };
}

// All documents, each once: those of the first run, and those that it lost.
function eachOnce([own, others]) {
  return [...own, ...others.filter(({ kind }) => kind === "lost")];
}

// What documents of each kind add to the difference, and what those below do.
function partsByKind({ lists, scores }) {
  const all = eachOnce(lists);
  const parts = KINDS.map((kind) => sum(all.filter((each) => each.kind === kind).map(({ part }) => part)));
  return { parts, below: scores[0] - scores[1] - sum(parts) };
}

// `isAll` says whether these are all documents that the measure looks at.
function documentSentence(topic, both, range, isAll) {
  const all = eachOnce(both.lists);
  const counts = KINDS.map((kind) => all.filter((each) => each.kind === kind).length);
  const { parts, below } = both.hasParts ? partsByKind(both) : { parts: null, below: 0 };
  const told = KINDS.map((kind, i) => counts[i] && `${counts[i]} ${kind}${parts ? ` (${signed(parts[i])})` : ""}`).filter(Boolean);
  const listed = told.length < 2 ? told.join("") : `${told.slice(0, -1).join(", ")} and ${told.at(-1)}`;
  const rest = Math.abs(below) >= 5e-4 ? `; those below: ${signed(below)}` : "";
  const [own, other] = both.scores;
  const said = `${topic}: ${thousandths(other)} to ${thousandths(own)}; documents: ${listed || "none"}${rest}.`;
  const unjudged = all.filter(({ grade }) => grade === null).length;
  if (!unjudged || !range || Number.isNaN(range.low)) return said;
  const of = isAll ? `${unjudged} unjudged ${unjudged === 1 ? "document" : "documents"}` : "unjudged documents";
  return `${said} Whatever the grades of the ${of}, the difference lies ${range.exact ? "in" : "within"} [${signed(range.low)}, ${signed(range.high)}].`;
}

function signed(value) {
  const text = thousandths(value);
  if (Number(text) === 0) return text.replace("-", "");
  return value > 0 ? `+${text}` : text;
}

// Three decimals; what is exactly between two goes to the even one, as in Python.
function thousandths(value) {
  const text = value.toFixed(3);
  const [, last, beyond] = value.toFixed(70).match(/\.\d\d(\d)(\d+)$/);
  return /^50*$/.test(beyond) && last % 2 === 0 ? value.toFixed(70).slice(0, -67) : text;
}

// A table for each side; the parts of the documents in both stand on the left alone.
function rankedTables({ lists, hasParts }, names) {
  return lists.map((list, side) => {
    const table = element("table", { class: "documents" });
    table.append(element("caption", {}, names[side]));
    const titles = ["#", "document", "grade", "moved", ...(hasParts ? ["part"] : [])];
    const head = element("tr");
    for (const title of titles) head.append(element("th", { scope: "col" }, title));
    const thead = element("thead");
    thead.append(head);
    const body = element("tbody");
    body.append(...list.map((each) => rankedRow(each, side, hasParts)));
    if (!list.length) {
      const row = element("tr");
      row.append(element("td", { colspan: titles.length }, "no document"));
      body.append(row);
    }
    table.append(thead, body);
    return table;
  });
}

function rankedRow({ docno, grade, place, there, kind, part }, side, hasParts) {
  const row = element("tr", { class: grade === null ? "unjudged" : grade > 0 ? "relevant" : "other" });
  row.append(element("td", {}, String(place + 1)), element("th", { scope: "row" }, docno));
  row.append(element("td", {}, grade === null ? "–" : String(grade)));
  row.append(element("td", {}, kind === "in both" ? moveOf(side ? place - there : there - place) : kind));
  if (!hasParts) return row;
  const told = (!side || kind === "lost") && part !== 0;
  const sign = part > 0 ? "+" : "";
  row.append(element("td", { class: part > 0 ? "gains" : "loses" }, told ? `${sign}${decimal(part, 4)}` : ""));
  return row;
}

// Where a document went, coming from the second run.
function moveOf(up) {
  return up === 0 ? "=" : `${up > 0 ? "↑" : "↓"}${Math.abs(up)}`;
}
