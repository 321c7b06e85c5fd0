// The ladder's table: a part for each section.

const MOST_ROWS = 400; // at first, in all parts together

function tableColumns(section, points) {
  const unit = rateUnit(Math.max(0, ...points.map((p) => p.rate || 0)), section);
  const columns = [
    ["kernel", (p) => DATA.kernels[p.kernel].name], ["variant", (p) => p.variant], ["mode", (p) => (p.predicted ? "predicted" : "measured")],
    ["blocks", (p) => p.blocks], ["parameters", (p) => p.params], ["size", (p) => DATA.sizes[p.size].name, 1],
    ["median", (p) => unsure(p, "time", seconds(p.seconds)), 1], ["±", (p) => p.spread, 1],
    [unit.name, (p) => (p.rate === null ? "" : unsure(p, "rate", figure(p.rate / unit.divisor))), 1], ["% of " + section.roof, (p) => unsure(p, "peak", figure(p.peak)), 1], ["% of xla", (p) => unsure(p, "baseline", figure(p.baseline)), 1],
    ["over", (p) => (p.over === null ? "" : unsure(p, "over", figure(p.over) + "× " + p.below)), 1], ["err/bound", (p) => error(p.bound), 1], ["rel_err", (p) => error(p.error), 1],
    ["status", (p) => p.status], ["run", (p) => p.run], ["reason", (p) => p.reason, 0, "reason"],
  ];
  const several = (of) => new Set(points.map(of)).size > 1;
  return columns.filter(([name, of]) => (name === "run" || name === "mode" ? several(of) : points.some((p) => of(p) !== "")));
}

function showTable(place, points, limit) {
  place.textContent = "";
  if (!points.length) return place.append(element("p", "Nothing to list: tick more boxes.", { class: "none" }));
  let left = limit;
  for (const { section, points: list } of bySection(points)) {
    if (left <= 0) break;
    const columns = tableColumns(section, list);
    const head = element("tr", columns.map(([name, , right]) => element("th", name, right ? { class: "figure" } : {})));
    const body = list.slice(0, left).map((p, i) => tableRow(columns, p, i > 0 && list[i - 1].size !== p.size));
    left -= body.length;
    const modes = [...new Set(list.map((p) => (p.predicted ? "predicted" : "measured")))].join(" and ");
    const ways = [...new Set(list.filter((p) => DATA.kernels[p.kernel].short !== DATA.kernels[p.kernel].name).map((p) => p.how))];
    place.append(element("h3", titleOf(section) + " · " + modes),
      element("p", ways.length === 1 ? ways[0] : ""),
      element("div", [element("table", [element("thead", [head]), element("tbody", body)])], { class: "scroll" }));
  }
  if (points.length > limit) {
    const more = element("button", `show all ${points.length} lines`, { type: "button" });
    more.addEventListener("click", () => showTable(place, points, points.length));
    place.append(more);
  }
}

function tableRow(columns, p, first) {
  const cells = columns.map(([name, of, right, kind]) => {
    const cell = element("td", of(p), right || kind ? { class: kind || "figure" } : {});
    if (name === "kernel") {
      const dot = element("i");
      dot.style.background = dot.style.borderColor = DATA.kernels[p.kernel].colour;
      cell.prepend(dot);
    }
    return cell;
  });
  return element("tr", cells, { class: [first ? "first" : "", p.predicted ? "predicted" : ""].join(" ").trim() });
}
