// What the page shows of the chosen runs: figures, the pair topic by topic, and what is folded away.
// `state`, `shown` and `paper` are the page's own (page.js).

function viewOf(selected) {
  return { comparison: shown.comparison, selected, names: names(), topic: state.topic, select: toggle, openTopic };
}

// As wide as its place, so that letters keep their size.
function sizeOf(id, ratio) {
  const width = paper ? PAPER.half : Math.max(280, Math.min(760, byId(id).clientWidth || 520));
  return { width, height: Math.round(Math.max(230, width * ratio)) };
}

function showFigures(selected) {
  showChosen(selected);
  const view = viewOf(selected);
  const curves = drawCurves(view, ofNow(), sizeOf("curves", 0.62));
  const tradeoff = drawTradeoff(view, sizeOf("tradeoff", 0.62));
  place("curves", curves.svg, `${state.of}-over-alpha`);
  place("tradeoff", tradeoff.svg, "gain-against-risk");
  byId("proportional").textContent = tradeoff.proportional
    ? "Above the dashed line a run has more gain for its risk than the run of the highest gain." : "";
  shown.drawings = [curves, tradeoff];
}

// Puts a drawing into its place, with buttons to take it along.
function place(id, svg, name) {
  const tools = element("span", { class: "save" });
  for (const [title, save] of [["SVG", saveSvg], ["PNG", savePng]]) {
    const button = element("button", { type: "button", "aria-label": `Save ${svg.getAttribute("aria-label")} as ${title}` }, title);
    button.addEventListener("click", () => save(svg, name));
    tools.append(button);
  }
  byId(id).replaceChildren(svg, tools);
}

// The last run chosen, and what it is compared with: another run's row, or null for a baseline
// that is none.
function pairOf(selected) {
  const current = selected.at(-1);
  const other = state.against ?? shown.comparison.own;
  const titles = [names()[current], other === null ? shown.comparison.baseline : names()[other]];
  return { current, other, titles };
}

function showPair(selected) {
  byId("run").hidden = !selected.length;
  if (!selected.length) return;
  const { comparison } = shown;
  const { current, other, titles } = pairOf(selected);
  byId("run-name").textContent = titles.join(" against ");
  addChoices(byId("one"), names(), current);
  const others = comparison.own === null ? [comparison.baseline, ...names()] : names();
  addChoices(byId("other"), others, other === null ? 0 : other + (comparison.own === null ? 1 : 0));
  const rows = showPairNumbers(selected);
  drawPair(rows, selected, titles);
  showDocuments(current, other, titles);
}

// What is said and listed of the pair, which follows alpha.
function showPairNumbers(selected) {
  if (!selected.length) return [];
  const { current, other, titles } = pairOf(selected);
  const rows = topicRows(shown.comparison, current, other, state.alpha);
  byId("pair").textContent = current === other
    ? "A run against itself: choose another." : pairSentence(rows, state.alpha, titles, measureNow().systems);
  byId("pair-unjudged").textContent = [
    unjudgedSentence(shown.comparison, current, other, names()), rangeSentence(shown.comparison, current, other),
  ].filter(Boolean).join(" ");
  byId("topics-key").textContent = topicsKey(rows);
  topicsTable.show(topicColumns(shown.comparison, titles, rows), rows, state.topic);
  return rows;
}

function drawPair(rows, selected, titles) {
  const view = viewOf(selected);
  const title = `Difference of ${titles[0]} to ${titles[1]} on each topic`;
  const wide = { width: paper ? PAPER.whole : Math.max(280, byId("topics").clientWidth || 900), height: paper ? 190 : 260 };
  place("topics", drawTopics(rows, view, title, wide).svg, "topics");
  place("scatter", drawScatter(rows, view, titles, sizeOf("scatter", 0.7)).svg, "scores");
  place("histogram", drawHistogram(rows, sizeOf("histogram", 0.7)).svg, "gains-and-losses");
  const ties = rows.filter(({ delta }) => delta === 0).length;
  byId("ties").textContent = ties === 1 ? "1 topic is equal" : `${ties} topics are equal`;
}

function topicColumns(comparison, titles, rows) {
  const number = (id, title, decimals) => ({ id, title, value: (row) => row[id], text: (row) => decimal(row[id], decimals) });
  const places = placesOf(rows.map(({ query }) => query));
  return [
    { id: "q", title: "topic", value: ({ q }) => q, text: ({ topic }) => topic },
    comparison.measure.queries && { id: "query", title: "query", rising: true, value: ({ q }) => places[q], text: ({ query }) => query },
    number("score", titles[0], 4), number("reference", titles[1], 4), number("delta", "difference", 4),
    hasRanges(rows) && { id: "range", title: "its range", value: ({ low }) => low, text: (row) => rangeText(row) },
    hasShares(rows) && { id: "judged", title: "judged", value: ({ judged }) => judged, text: judgedText },
    number("counted", "counted", 4), number("without", "URisk without it", 4),
    !comparison.hasNegative && number("z", "z", 3),
  ].filter(Boolean);
}

const hasRanges = (rows) => rows.some(({ low }) => !Number.isNaN(low));
const hasShares = (rows) => rows.some(({ judged, judgedThere }) => !Number.isNaN(judged) || !Number.isNaN(judgedThere));

// What the columns on unjudged documents mean, where there are any.
function topicsKey(rows) {
  return [
    hasRanges(rows) && "its range: the differences that the grades of unjudged documents allow; a line in the figure.",
    hasShares(rows) && `judged: how much of the first ${measureNow().judging.depth} documents of the one and of the other.`,
  ].filter(Boolean).join(" ");
}

function showDocuments(current, other, titles) {
  const { topics, queries } = measureNow();
  const topic = state.topic === null ? null : topics[state.topic];
  const known = data.documents && topic !== null && data.documents.topics[topic];
  byId("documents").hidden = !known;
  if (!known) return;
  const named = namedTopic({ topic, query: queries?.[state.topic] });
  const cutoff = measureNow().judging?.cutoff ?? Infinity;
  const depth = Math.min(cutoff, data.documents.depth);
  byId("documents-heading").textContent = `Topic ${named}: the first ${depth} documents`;
  const side = byId("documents").querySelector(".side");
  if (other === null) {
    byId("moves").textContent = byId("parts-key").textContent = "";
    side.replaceChildren("Choose a run to compare with: the baseline is made from all runs and has no documents.");
    return;
  }
  const both = sideBySide(known, [current, other], measureNow(), state.topic, depth);
  const range = rangeOn(shown.comparison, current, other, state.topic);
  byId("moves").textContent = documentSentence(named, both, range, depth === cutoff);
  const parts = depth === cutoff ? "; the parts add up to the difference" : "; part: what a document adds to the difference";
  byId("parts-key").textContent = `grade –: not judged; moved: ↑ ↓ ranks up or down, = none${both.hasParts ? parts : ""}.`;
  side.replaceChildren(...rankedTables(both, titles));
}

// What is folded away is drawn when it is opened.
function showDetails() {
  for (const span of document.querySelectorAll(".of")) span.textContent = ofNow().title;
  if (byId("intervals").open) showIntervals();
  if (byId("side").open) showSide();
  if (byId("heat").open) showHeat();
}

function showIntervals() {
  const { table } = shown;
  const there = table[`${state.of}_lo`] !== undefined;
  byId("no-intervals").textContent = there ? "" : `There are none of ${ofNow().title} at α = ${short(state.alpha)}.`;
  if (!there) byId("whiskers").replaceChildren();
  else place("whiskers", drawIntervals(viewOf(selection()), ofNow(), table, sizeOf("whiskers", 1).width).svg, `${state.of}-intervals`);
}

// The risk measure chosen, a column an effectiveness measure, at this alpha and baseline.
function showSide() {
  const tables = measures.map((_, i) => tableAt(comparisonOf(measures, { ...state, measure: i }), state.alpha));
  const { id, decimals } = ofNow();
  const columns = [
    { id: "run", title: "run", value: ({ row }) => row, text: ({ row }) => names()[row] },
    ...measures.map(({ name }, i) => ({
      id: String(i), title: name, value: ({ row }) => tables[i][id]?.[row] ?? NaN,
      text: ({ row }) => `${decimal(tables[i][id]?.[row], decimals)} (${tables[i][`rank_${id}`]?.[row] || "–"})`,
    })),
  ];
  sideTable.show(columns, measureNow().runs.map((_, row) => ({ row })));
}

function showHeat() {
  const { comparison, table } = shown;
  if (comparison.hasNegative) byId("heatmap").replaceChildren("z needs scores of at least 0.");
  else place("heatmap", drawHeatmap(viewOf(selection()), measureNow(), table, paper ? PAPER.whole : Math.max(280, byId("heatmap").clientWidth)).svg, "z");
}
