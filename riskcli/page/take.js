// Taking things along: the table as CSV, JSON or a copy with full precision, a figure as a file.

// The table as machine formats have it: a row a run, in the order shown, a column a name.
function machineRows(comparison, measureName, table, alpha, columns, order) {
  const fixed = {
    measure: measureName, baseline: comparison.baseline, population: comparison.population,
    alpha, topics: comparison.topics.length,
  };
  return order.map((row) => Object.fromEntries(columns.map((name) => {
    if (name === "run") return [name, comparison.runs[row]];
    if (name in fixed) return [name, fixed[name]];
    const value = table[name]?.[row];
    if (typeof value === "string") return [name, value];
    return [name, Number.isFinite(value) ? value : name.endsWith("_flag") ? "" : null];
  })));
}

// Text that a spreadsheet would take for a formula is kept from that by an apostrophe.
function csvCell(value) {
  if (value === null) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function asCsv(columns, rows) {
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((cells) => `${cells.map(csvCell).join(",")}\n`).join("");
}

// Rows for the clipboard: cells parted by tabs, full precision, a hyphen for the minus sign.
function asTabbed(titles, rows) {
  const cell = (value) => (value === null ? "" : String(value).replace(/[\t\r\n]+/g, " "));
  return [titles, ...rows].map((cells) => cells.map(cell).join("\t")).join("\n");
}

function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "font-family", "opacity", "stroke-linejoin"];

// A drawing as a file of its own: what the style sheet says is written into it.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const originals = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of DRAWN) node.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "role", "tabindex", "aria-label"]) node.removeAttribute(name);
  });
  const box = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.prepend(shape("title", {}, svg.getAttribute("aria-label")));
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.insertBefore(shape("rect", { width: "100%", height: "100%", fill: paper }), copy.children[1]);
  return new XMLSerializer().serializeToString(copy);
}

function saveSvg(svg, name) {
  download(`${name}.svg`, "image/svg+xml", standalone(svg));
}

// Three dots for each of the drawing's own.
async function savePng(svg, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(svg))}`;
  await image.decode();
  const canvas = element("canvas", { width: 3 * image.width, height: 3 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(`${name}.png`, "image/png", blob));
}
