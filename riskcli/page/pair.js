// Two runs against each other, topic by topic: what is drawn and listed of them.

// By topic: both scores, the difference, what it counts at alpha, z, and URisk without the topic.
function topicRows(comparison, row, other, alpha) {
  const z = comparison.hasNegative ? null : comparison.departures(row);
  const reference = other === null ? comparison.reference : comparison.scores[other];
  const deltas = comparison.scores[row].map((x, q) => x - reference[q]);
  const counted = deltas.map((delta) => (delta < 0 ? (1 + alpha) * delta : delta));
  const all = sum(counted);
  const left = Math.max(counted.length - 1, 1);
  return comparison.topics.map((topic, q) => ({
    q, topic, score: comparison.scores[row][q], reference: reference[q], delta: deltas[q],
    counted: counted[q], z: z ? z[q] : NaN, without: (all - counted[q]) / left,
  }));
}

// Wins, ties, losses and URisk of the pair in words, and whether one topic alone decides its sign.
function pairSentence(rows, alpha, names) {
  const count = (test) => rows.filter(({ delta }) => test(delta)).length;
  const urisk = sum(rows.map(({ counted }) => counted)) / rows.length;
  const deciding = rows.filter(({ without }) => Math.sign(without) !== Math.sign(urisk) && rows.length > 1);
  const record = `${names[0]} is above ${names[1]} on ${count((d) => d > 0)} topics, equal on ${count((d) => d === 0)}, below on ${count((d) => d < 0)}.`;
  const value = `URisk at α = ${short(alpha)}: ${decimal(urisk, 4)}.`;
  if (urisk === 0) return `${record} ${value}`;
  const some = deciding.slice(0, 5).map(({ topic }) => topic).join(", ");
  const decides = deciding.length
    ? `Its sign rests on single topics: without ${some}${deciding.length > 5 ? " or others" : ""} it would be another.`
    : "No single topic decides its sign.";
  return `${record} ${value} ${decides}`;
}

// The differences, a bar a topic, largest gain first.
function drawTopics(rows, view, title, size) {
  const shown = [...rows].sort((a, b) => b.delta - a.delta || a.q - b.q);
  const margin = { ...MARGIN, right: 12, bottom: 34 };
  const drawn = chart({
    ...size, xs: [0, shown.length], ys: bounds([0, ...shown.map(({ delta }) => delta)]),
    xTitle: "", yTitle: "difference", label: title, margin,
  });
  const zero = drawn.y(0);
  const step = drawn.x(1) - drawn.x(0);
  const marks = shown.map((each, i) => {
    const y = drawn.y(each.delta);
    const bar = shape("rect", {
      x: drawn.x(i) + step * 0.1, y: Math.min(y, zero), width: Math.max(step * 0.8, 0.5),
      height: Math.max(Math.abs(y - zero), 1),
      class: `bar ${each.delta < 0 ? "loss" : each.delta > 0 ? "gain" : "tie"}${each.q === view.topic ? " open" : ""}`,
    });
    drawn.svg.append(bar);
    return { drawn: bar, name: topicName(each), act: () => view.openTopic(each.q) };
  });
  drawn.svg.append(line(drawn.left, zero, drawn.right, zero, "axis"));
  labelTopics(drawn, shown, step);
  reachable(drawn.svg, marks);
  return drawn;
}

function topicName({ topic, score, reference, delta }) {
  return `topic ${topic}: ${decimal(score, 4)} against ${decimal(reference, 4)}, difference ${decimal(delta, 4)}`;
}

// The topic's id below each bar where there is room, else below some of them.
function labelTopics(drawn, shown, step) {
  const every = Math.max(1, Math.ceil((8 * Math.max(...shown.map(({ topic }) => Math.min(topic.length, 10))) + 4) / step));
  shown.forEach(({ topic }, i) => {
    if (i % every) return;
    drawn.svg.append(words(drawn.x(i + 0.5), drawn.bottom + 17, cut(topic, 10), "tick", "middle"));
  });
}

// One run's score against the other's, a dot a topic; above the diagonal it gains.
function drawScatter(rows, view, titles, size) {
  const [least, most] = bounds([0, ...rows.flatMap(({ score, reference }) => [score, reference])]);
  const reach = [least, most + 0.03 * (most - least)];
  const drawn = chart({
    ...size, xs: reach, ys: reach, xTitle: titles[1], yTitle: titles[0],
    label: `Scores of ${titles[0]} against ${titles[1]}`, margin: { ...MARGIN, right: 16 },
  });
  drawn.svg.append(line(drawn.x(reach[0]), drawn.y(reach[0]), drawn.x(reach[1]), drawn.y(reach[1]), "even"));
  const marks = rows.map((each) => {
    const [kind, form] = each.delta > 0 ? ["gain", "triangle"] : each.delta < 0 ? ["loss", "turned"] : ["tie", "circle"];
    const made = dot(drawn.x(each.reference), drawn.y(each.score), 4, `point ${kind}${each.q === view.topic ? " open" : ""}`, form);
    drawn.svg.append(made);
    return { drawn: made, name: topicName(each), act: () => view.openTopic(each.q) };
  });
  reachable(drawn.svg, marks);
  return drawn;
}

// How many topics gain and lose how much (SIGIR'12, Figure 1); equal ones are told in the title.
function drawHistogram(rows, size) {
  const most = Math.max(...rows.map(({ delta }) => Math.abs(delta)));
  const step = most > 0 ? roundWidth(most / 10) : 0.1;
  const bins = new Map();
  for (const { delta } of rows) {
    if (delta === 0) continue;
    const bin = Math.sign(delta) * Math.ceil(Number((Math.abs(delta) / step).toFixed(9)));
    bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  const reach = Math.max(1, ...Array.from(bins.keys(), Math.abs)) * step;
  const drawn = chart({
    ...size, xs: [-reach, reach], ys: [0, Math.max(1, ...bins.values())],
    xTitle: "difference", yTitle: "topics", label: "How many topics gain and lose how much",
    margin: { ...MARGIN, right: 16 },
  });
  const marks = [...bins].sort(([a], [b]) => a - b).map(([bin, count]) => {
    const [low, high] = bin > 0 ? [(bin - 1) * step, bin * step] : [bin * step, (bin + 1) * step];
    const bar = shape("rect", {
      x: drawn.x(low) + 0.5, y: drawn.y(count), width: drawn.x(high) - drawn.x(low) - 1,
      height: drawn.bottom - drawn.y(count), class: bin > 0 ? "bar gain" : "bar loss",
    });
    drawn.svg.append(bar);
    const name = `${count} ${count === 1 ? "topic" : "topics"} ${bin > 0 ? "gain" : "lose"} ${short(Math.min(Math.abs(low), Math.abs(high)))} to ${short(Math.max(Math.abs(low), Math.abs(high)))}`;
    return { drawn: bar, name, act: () => {} };
  });
  if (marks.length) reachable(drawn.svg, marks);
  return drawn;
}

function roundWidth(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((m) => m * power).find((width) => width >= rough * (1 - 1e-12));
}

// The documents of both runs on one topic, side by side: place, document, grade, and what is new.
function documentLists(documents, topic, rows, names) {
  const known = documents.topics[topic];
  const lists = rows.map((row) => known.runs[row] ?? []);
  return lists.map((list, side) => {
    const other = new Map(lists[1 - side].map((doc, place) => [doc, place + 1]));
    const table = element("table", { class: "documents" });
    table.append(element("caption", {}, names[side]));
    const head = element("tr");
    for (const title of ["#", "document", "grade", "in the other"]) head.append(element("th", { scope: "col" }, title));
    const body = element("tbody");
    list.forEach((doc, place) => {
      const grade = known.grades[doc];
      const row = element("tr", { class: grade === null ? "unjudged" : grade > 0 ? "relevant" : "other" });
      row.append(element("td", {}, String(place + 1)), element("th", { scope: "row" }, known.docnos[doc]));
      row.append(element("td", {}, grade === null ? "unjudged" : String(grade)));
      row.append(element("td", {}, other.has(doc) ? `#${other.get(doc)}` : "not in its top"));
      body.append(row);
    });
    if (!list.length) body.append(element("tr")).lastChild?.append(element("td", { colspan: 4 }, "no document"));
    const thead = element("thead");
    thead.append(head);
    table.append(thead, body);
    return table;
  });
}
