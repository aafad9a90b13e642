// Two runs against each other, topic by topic: what is drawn and listed of them.

// By topic: both scores, the difference, what it counts at alpha, z, and URisk without the topic;
// what it asks, the range of the difference and the judged shares, as far as they are known.
function topicRows(comparison, row, other, alpha) {
  const z = comparison.hasNegative ? null : comparison.departures(row);
  const reference = other === null ? comparison.reference : comparison.scores[other];
  const deltas = comparison.scores[row].map((x, q) => x - reference[q]);
  const counted = deltas.map((delta) => (delta < 0 ? (1 + alpha) * delta : delta));
  const weight = (q) => comparison.weights?.[q] ?? 1;
  const all = sum(weighed(counted, comparison.weights));
  const left = (q) => counted.length - weight(q) || 1;
  const ranges = rangesTo(comparison, other);
  const { queries, judging } = comparison.measure;
  const share = (run, q) => (judging?.byTopic && run !== null ? judging.share(run, q) : NaN);
  return comparison.topics.map((topic, q) => ({
    q, topic, score: comparison.scores[row][q], reference: reference[q], delta: deltas[q],
    counted: counted[q], z: z ? z[q] : NaN, weight: weight(q),
    without: (all - weight(q) * counted[q]) / left(q),
    query: queries?.[q] ?? "", low: ranges?.low[row][q] ?? NaN, high: ranges?.high[row][q] ?? NaN,
    judged: share(row, q), judgedThere: share(other ?? comparison.own, q),
  }));
}

// A topic as a sentence names it: its id, and the beginning of what it asks.
function namedTopic({ topic, query }) {
  return query ? `${topic} ${query.length > 40 ? `${query.slice(0, 39).trimEnd()}…` : query}` : topic;
}

function rangeText({ low, high }, decimals = 4) {
  const ends = [low, high].map((end) => decimal(end, decimals));
  if (Number.isNaN(low)) return "–";
  return ends[0] === ends[1] ? ends[0] : `[${ends.join(", ")}]`;
}

function judgedText({ judged, judgedThere }) {
  const known = [judged, judgedThere].map((share) => (Number.isNaN(share) ? "–" : `${Math.round(100 * share)} %`));
  return known.every((text) => text === "–") ? "–" : known.join(" / ");
}

// Where the mean and the losses lie, whatever the grades of unjudged documents; "" where unknown.
function rangeSentence(comparison, row, other) {
  const ranges = row === other ? null : rangesTo(comparison, other);
  if (!ranges || Number.isNaN(ranges.low[row][0])) return "";
  const [low, high] = ranges.ofMean(row);
  const [certain, possible] = ranges.losses(row);
  const lost = certain === possible ? `${certain}` : `${certain} for certain, ${possible} at most`;
  const bounds = ranges.exact ? "" : " (bounds, which may not be reached)";
  return `Whatever is not judged, the mean difference lies in ${rangeText({ low, high })}; topics lost: ${lost}${bounds}.`;
}

// Wins, ties, losses and URisk of the pair in words, and whether one topic alone decides its sign.
function pairSentence(rows, alpha, names, systems) {
  const count = (test) => rows.filter(({ delta }) => test(delta)).length;
  const urisk = sum(rows.map(({ counted, weight }) => weight * counted)) / rows.length;
  const deciding = rows.filter(({ without }) => Math.sign(without) !== Math.sign(urisk) && rows.length > 1);
  const record = `${names[0]} is above ${names[1]} on ${count((d) => d > 0)} topics, equal on ${count((d) => d === 0)}, below on ${count((d) => d < 0)}${systems ? ", noise of replicates included" : ""}.`;
  const value = `URisk at α = ${short(alpha)}: ${decimal(urisk, 4)}.`;
  if (urisk === 0) return `${record} ${value}`;
  const some = deciding.slice(0, 5).map(namedTopic).join(", ");
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
    ...size, xs: [0, shown.length], ys: bounds([0, ...shown.flatMap(({ delta, low, high }) => [delta, low, high])]),
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
    if (each.low < each.high) {
      const middle = drawn.x(i + 0.5);
      drawn.svg.append(line(middle, drawn.y(each.low), middle, drawn.y(each.high), "span"));
    }
    return { drawn: bar, name: topicName(each), act: () => view.openTopic(each.q) };
  });
  drawn.svg.append(line(drawn.left, zero, drawn.right, zero, "axis"));
  labelTopics(drawn, shown, step);
  reachable(drawn.svg, marks);
  return drawn;
}

function topicName(row) {
  const { score, reference, delta, low, high } = row;
  const range = low < high ? `, in ${rangeText(row)} for all grades of unjudged documents` : "";
  return `topic ${namedTopic(row)}: ${decimal(score, 4)} against ${decimal(reference, 4)}, difference ${decimal(delta, 4)}${range}`;
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
