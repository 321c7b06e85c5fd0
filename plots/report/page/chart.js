// What the charts have in common: panels, series and tooltips.

const MOST_PANELS = 12; // in a section; filters choose others
const MOST_LABEL = 180; // pixels of a line's name
const MOST_LINES = 60; // in a chart, the fastest
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "pin", "arrow"];

const usable = (p) => p.status === "ok" && p.rate !== null && p.rate > 0 && p.lo > 0 && p.hi !== null;

// A Panels draws one chart for each group of points into a place of the page.
class Panels {
  constructor(place) {
    this.place = place;
    this.charts = [];
  }

  // show replaces all charts. Each group has a title, and draw makes an option for
  // ECharts and says how many lines it leaves out.
  show(groups) {
    this.charts.forEach((chart) => chart.dispose());
    this.charts = [];
    this.place.textContent = "";
    if (!groups.length) this.place.append(element("p", "Nothing to draw: no point that is ticked has a figure for it.", { class: "none" }));
    // All places first: each changes the width of the others.
    const drawn = groups.slice(0, MOST_PANELS).map((group) => {
      const chart = element("div", null, { class: "chart", role: "img", "aria-label": group.title });
      this.place.append(element("div", [element("h3", group.title), chart], { class: "panel" }));
      return { group, chart };
    });
    for (const { group, chart } of drawn) {
      const { option, left } = group.draw(chart.clientWidth);
      if (left > 0) chart.before(element("p", `The ${MOST_LINES} fastest lines; ${left} more are in the table. Tick fewer kernels or sizes.`, { class: "none" }));
      const made = echarts.init(chart);
      made.setOption(option);
      spread(made, option);
      this.charts.push(made);
    }
    if (groups.length > MOST_PANELS) {
      this.place.append(element("p", `${groups.length - MOST_PANELS} more charts: tick fewer dtypes or machines.`, { class: "none" }));
    }
  }

  resize() { this.charts.forEach((chart) => chart.resize()); }
}

// spread moves names of lines apart: those that would lie on one another keep their
// order, each as near to its line as the others allow, within the axes and below the
// name of the peak.
function spread(chart, option) {
  const height = allBlocks ? 13 : 15, names = [], floor = chart.getHeight() - option.grid.bottom - 4;
  let ceiling = -Infinity;
  option.series.forEach((series, n) => {
    const last = series.data[series.data.length - 1];
    if (!last || !last.label || !last.label.show) return;
    const [x, y] = chart.convertToPixel({ seriesIndex: n }, last.value);
    if (last.point) names.push({ x, y, right: x + 12 + 0.62 * labelSize() * series.name.length, label: last.label });
    else if (last.label.position === "top") ceiling = y;
  });
  const columns = []; // of names, left to right, that share some x
  for (const name of names.sort((a, b) => a.x - b.x)) {
    const column = columns[columns.length - 1];
    if (column && name.x < column.right) {
      column.names.push(name);
      column.right = Math.max(column.right, name.right);
    } else columns.push({ names: [name], right: name.right });
  }
  for (const { names } of columns) {
    names.sort((a, b) => a.y - b.y);
    const blocks = []; // of names that touch, and where the first would be
    names.forEach(({ y }, i) => {
      let block = { sum: y - i * height, count: 1 };
      for (let above; (above = blocks[blocks.length - 1]) && above.sum / above.count > block.sum / block.count; blocks.pop()) {
        block = { sum: above.sum + block.sum, count: above.count + block.count };
      }
      blocks.push(block);
    });
    const top = names[0].y > ceiling ? ceiling + 8 : -Infinity, bottom = floor - (names.length - 1) * height;
    const places = blocks.flatMap(({ sum, count }) => Array(count).fill(Math.max(top, Math.min(bottom, sum / count))));
    names.forEach(({ y, label }, i) => { label.offset = [0, places[i] + i * height - y]; });
  }
  chart.setOption({ series: option.series });
}

// bySection groups points, in the order of the table.
function bySection(points) {
  const groups = new Map();
  for (const p of points) {
    if (!groups.has(p.section)) groups.set(p.section, []);
    groups.get(p.section).push(p);
  }
  return [...groups].map(([n, list]) => ({ section: DATA.sections[n], points: list }));
}

const titleOf = (section) => section.dtype + " · " + section.machine;

// linesOf groups points that may be joined: one kernel, one mode, one way of
// running; with all blocks shown, one block shape. Of a point made twice the
// later run counts. At most MOST_LINES are returned, and how many are left out.
function linesOf(points) {
  const lines = new Map(), ways = [];
  for (const p of points) {
    const id = [p.kernel, p.predicted, p.variant, p.how, allBlocks ? p.blocks + p.params : ""].join("\u0000");
    if (!lines.has(id)) lines.set(id, { kernel: DATA.kernels[p.kernel], predicted: p.predicted, how: p.how, variant: p.variant, blocks: p.blocks, at: new Map() });
    lines.get(id).at.set(p.size, p);
    const way = p.kernel + "\u0000" + p.how;
    if (!ways.includes(way)) ways.push(way);
  }
  let list = [...lines.values()];
  if (list.length > MOST_LINES) {
    const fastest = (line) => Math.max(...[...line.at.values()].map((p) => p.rate || 0));
    const kept = new Set([...list].sort((a, b) => fastest(b) - fastest(a)).slice(0, MOST_LINES));
    list = list.filter((line) => kept.has(line));
  }
  list.forEach((line) => {
    const same = ways.filter((w) => w.startsWith(DATA.kernels.indexOf(line.kernel) + "\u0000"));
    line.symbol = SYMBOLS[same.findIndex((w) => w.endsWith("\u0000" + line.how)) % SYMBOLS.length];
    line.points = [...line.at.values()].sort((a, b) => a.size - b.size);
    line.name = [line.kernel.short, line.variant, allBlocks && line.kernel.short !== line.kernel.name ? shortBlocks(line.blocks) : ""].filter(Boolean).join(" ");
  });
  nameLines(list);
  return { lines: list, left: lines.size - list.length };
}

const MOST_NAMES = 16; // in a chart

// nameLines says which lines have their names in the chart: all if they are few, else
// the fastest of those that reach the largest size. Tooltips name every point.
function nameLines(lines) {
  const last = Math.max(...lines.flatMap((line) => [...line.at.keys()]));
  const ends = lines.filter((line) => line.at.has(last) && usable(line.at.get(last))).sort((a, b) => b.at.get(last).rate - a.at.get(last).rate);
  const named = new Set(lines.length <= MOST_NAMES ? lines : ends.slice(0, MOST_NAMES));
  lines.forEach((line) => { line.named = named.has(line); });
}

// shortBlocks writes a cube as 128³.
const shortBlocks = (blocks) => blocks.replace(/^(\d+)×\1×\1$/, "$1³");

// Names of all shapes are many and long, and so are smaller.
const labelSize = () => (allBlocks ? 11 : 13);

// labelRoom is the width to the right of a chart that names of lines need.
function labelRoom(lines, width) {
  const longest = Math.max(0, ...lines.filter((line) => line.named).map((line) => line.name.length));
  return Math.max(60, Math.min(16 + 0.62 * labelSize() * longest, MOST_LABEL, 0.5 * width));
}

// lineSeries is the look of a line of points; data are objects with value and
// point. Its name stands at the last.
function lineSeries(line, data) {
  const colour = line.kernel.colour, hollow = { color: PAPER, borderColor: colour, borderWidth: 2 };
  for (const d of data) if (d.point && d.point.rough & ROUGH.rate) d.itemStyle = hollow;
  if (line.named && data.length) {
    data[data.length - 1].label = { show: true, position: "right", formatter: line.name, color: line.kernel.ink, fontSize: labelSize(), width: MOST_LABEL, overflow: "truncate", textBorderColor: PAPER, textBorderWidth: 3 };
  }
  return {
    type: "line", name: line.name, data, z: 3, symbol: line.symbol, symbolSize: allBlocks ? 6 : 9, showAllSymbol: true,
    lineStyle: { color: colour, width: allBlocks ? 1.2 : 2.2, type: line.predicted ? "dashed" : "solid" },
    itemStyle: line.predicted ? hollow : { color: colour },
    emphasis: { focus: "none", scale: 1.4, lineStyle: { width: 3 } },
    animation: false,
  };
}

// intervalSeries are bars from lo to hi at each point.
function intervalSeries(line, xOf, unit) {
  if (line.predicted) return null;
  const data = [];
  for (const p of line.points) if (usable(p) && p.hi > p.lo) data.push([xOf(p), p.lo / unit.divisor], [xOf(p), p.hi / unit.divisor], [xOf(p), null]);
  if (!data.length) return null;
  return { type: "line", data, silent: true, symbol: "none", z: 2, connectNulls: false, tooltip: { show: false },
    lineStyle: { color: line.kernel.colour, width: 4, opacity: 0.4 }, animation: false };
}

// tip is the tooltip of one point, as elements.
function tip(point) {
  if (!point) return "";
  const section = DATA.sections[point.section], unit = rateUnit(point.rate || 0, section);
  const rate = usable(point) ? unsure(point, "rate", `${figure(point.rate / unit.divisor)} ${unit.name}`) : "";
  const range = point.lo !== null && point.hi > point.lo ? `${figure(point.lo / unit.divisor)} to ${figure(point.hi / unit.divisor)}` : "";
  const facts = [["size", DATA.sizes[point.size].name], ["blocks", point.blocks], ["parameters", point.params], ["rate", rate], ["interval", range],
    ["time", unsure(point, "time", seconds(point.seconds))], ["% of " + section.roof, unsure(point, "peak", figure(point.peak))], ["% of xla", unsure(point, "baseline", figure(point.baseline))],
    ["over " + point.below, point.over === null ? "" : unsure(point, "over", figure(point.over) + "×")], [section.unit === "B/s" ? "least bytes over bytes moved" : "FLOPs per byte moved", figure(point.intensity)],
    ["status", point.status === "ok" ? "" : point.status], ["reason", point.reason.slice(0, 200)]];
  const title = [DATA.kernels[point.kernel].name, point.variant, point.predicted ? "predicted" : "measured"].filter(Boolean).join(" · ");
  return element("div", [element("b", title), ...facts.filter(([, value]) => value)
    .map(([name, value]) => element("div", [element("span", name), element("em", value)])), element("span", point.how)], { class: "tip" });
}

// frame is an option without axes and series.
function frame() {
  return {
    animation: false,
    textStyle: { fontFamily: "system-ui, 'Liberation Sans', Arial, sans-serif", color: INK },
    tooltip: { trigger: "item", confine: true, formatter: (item) => tip(item.data && item.data.point) },
    toolbox: { right: 4, top: -8, itemSize: 15, iconStyle: { borderColor: "#777" }, feature: { dataZoom: { title: { zoom: "zoom into a box", back: "zoom back" } }, saveAsImage: { title: "save as PNG", pixelRatio: 2, backgroundColor: PAPER } } },
  };
}

function axis(name, more) {
  return { name, nameLocation: "middle", nameTextStyle: { color: SOFT, fontSize: 13 }, axisLabel: { color: SOFT, fontSize: 12, hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: SOFT } }, splitLine: { show: true, lineStyle: { color: GRID } }, ...more };
}

// roofLine is a grey line with its name at one end.
function roofLine(name, data, position) {
  return { type: "line", data: data.map(([x, y], i) => ({ value: [x, y], symbolSize: 0,
    label: { show: i === (position === "start" ? 0 : data.length - 1), position: position === "start" ? "right" : "top", align: position === "start" ? "left" : "right", offset: position === "start" ? [6, 4] : [0, 0], formatter: name, color: SOFT, fontSize: 12, textBorderColor: PAPER, textBorderWidth: 3 } })),
    silent: true, z: 1, symbol: "circle", showAllSymbol: true, tooltip: { show: false }, lineStyle: { color: "#888", width: 1.5 }, animation: false };
}
