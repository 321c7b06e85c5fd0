// Runs after the page: works its filters and player and says what it saw on the
// console, where the test waits for it: JSON in ASCII, a piece a line, for a browser
// may cut a long one.
(async () => {
  const saw = { wrong: WRONG };
  try {
    await look(saw);
  } catch (e) {
    WRONG.push("check: " + e.stack);
  }
  const ascii = (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0");
  const text = JSON.stringify(saw).replace(/[\u0080-\uffff]/g, ascii);
  const piece = 10000;
  for (let i = 0; i < text.length; i += piece) console.log("SAW " + text.slice(i, i + piece) + " MORE");
  console.log("SAW  END");
})();

// namesOf says what is wrong with the names of a chart's lines: two that end at one
// place in another order than their lines, or on one another, or outside the axes.
function namesOf(place) {
  const chart = echarts.getInstanceByDom(place), ends = [];
  chart.getOption().series.forEach((s, n) => {
    const last = s.data[s.data.length - 1];
    if (!last || !last.point || !last.label || !last.label.offset) return;
    const [x, y] = chart.convertToPixel({ seriesIndex: n }, last.value);
    ends.push({ name: s.name, x, y, at: y + last.label.offset[1] });
  });
  ends.sort((a, b) => a.y - b.y);
  for (const a of ends) {
    if (a.at > place.clientHeight - 46 || a.at < 10) WRONG.push(`${place.getAttribute("aria-label")}: ${a.name} at ${a.at} of ${place.clientHeight}`);
    const under = ends.find((b) => b.x === a.x && b.y > a.y && b.at < a.at + 14);
    if (under) WRONG.push(`${place.getAttribute("aria-label")}: ${under.name}, ${under.at}, is not below ${a.name}, ${a.at}`);
  }
}

async function look(saw) {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const table = () => all("#ladder table").flatMap((t) => {
    const names = [...t.tHead.rows[0].cells].map((c) => c.textContent);
    return [...t.tBodies[0].rows].map((r) => Object.fromEntries([...r.cells].map((c, i) => [names[i], c.textContent])));
  });
  const charts = (section) => all(`#${section} .chart`).map((place) => {
    const series = echarts.getInstanceByDom(place).getOption().series;
    const lines = series.map((s) => ({ ...s, data: s.data.filter((d) => d.point) })).filter((s) => s.data.length);
    return { title: place.getAttribute("aria-label"), canvas: place.querySelector("canvas").clientWidth, place: place.clientWidth, lines: lines.map((s) => ({
      type: s.type, dashed: s.lineStyle && s.lineStyle.type === "dashed",
      predicted: s.data.map((d) => d.point.predicted), kernels: s.data.map((d) => DATA.kernels[d.point.kernel].name),
      rates: s.data.map((d) => d.point.rate || 0) })) };
  });
  Object.assign(saw, { width: window.innerWidth, scrollWidth: document.documentElement.scrollWidth,
    table: table(), rate: charts("rate"), roofline: charts("roofline"), filters: [] });
  all(".chart").forEach(namesOf);
  const first = echarts.getInstanceByDom(document.querySelector("#rate .chart"));
  const n = first.getOption().series.findIndex((s) => s.type === "line" && s.data.some((d) => d.point));
  first.dispatchAction({ type: "showTip", seriesIndex: n, dataIndex: 0 });
  saw.tip = all("#rate .tip").map((e) => e.textContent).join(" ");
  for (const group of location.hash === "#filters" ? all("#filters fieldset") : []) {
    const boxes = [...group.querySelectorAll("input")];
    for (const box of [boxes[0], boxes[boxes.length - 1]]) {
      box.click();
      saw.filters.push({ filter: group.dataset.filter, value: box.value, rows: table().length, lines: charts("rate").reduce((n, c) => n + c.lines.length, 0) });
      box.click();
    }
    saw.after = charts("rate").concat(charts("roofline"));
    const none = group.querySelector("button[aria-label^=none]");
    if (none) {
      none.click();
      saw.filters.push({ filter: group.dataset.filter, value: "", rows: table().length, lines: all(".chart").length });
      group.querySelector("button[aria-label^=all]").click();
    }
  }
  saw.again = table().length;
  document.querySelector(".traversal [data-do=next]").click();
  saw.step = document.querySelector(".traversal dd").textContent;
  saw.players = all("#traversal option").map((o) => o.textContent);
  const { name, blob } = await rawRows();
  saw.name = name;
  saw.csv = await blob.text();
  saw.loaded = performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith("data:"));
  saw.pwned = "pwned" in window;
}
