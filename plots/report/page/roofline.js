// Roofline: rate against arithmetic intensity, both on log axes, under what
// memory and arithmetic allow.

function rooflineGroups(points) {
  const groups = [];
  for (const { section, points: all } of bySection(points)) {
    const placed = all.filter((p) => usable(p) && p.intensity > 0);
    if (placed.length) groups.push({ title: titleOf(section), draw: (width) => rooflineOption(section, placed, width) });
  }
  return groups;
}

function rooflineOption(section, points, width) {
  const { lines, left: more } = linesOf(points), { peak, bandwidth } = section;
  const known = peak > 0 && bandwidth > 0, ridge = known ? peak / bandwidth : 0;
  const unit = rateUnit(Math.max(peak, ...points.map((p) => p.hi)), section);
  const intensity = section.unit === "B/s" ? "least bytes over bytes moved" : `arithmetic intensity (${section.unit.replace("/s", "")}/byte)`;
  const span = (values, base) => [base ** Math.floor(Math.log(Math.min(...values)) / Math.log(base) - 0.05), base ** Math.ceil(Math.log(Math.max(...values)) / Math.log(base) + 0.05)];
  const [left, right] = span([...points.map((p) => p.intensity), ...(known ? [ridge] : [])], 2);
  const [low, high] = span([...points.map((p) => p.lo / unit.divisor), ...(peak ? [peak / unit.divisor] : []), ...points.map((p) => p.hi / unit.divisor)], 10);
  const series = [];
  for (const line of lines) {
    line.points.sort((a, b) => a.order - b.order);
    const drawn = lineSeries(line, line.points.map((p) => ({ value: [p.intensity, p.rate / unit.divisor], point: p })));
    drawn.lineStyle = { ...drawn.lineStyle, width: 1.2, opacity: 0.5 };
    series.push(drawn);
    series.push(intervalSeries(line, (p) => p.intensity, unit));
  }
  if (known) {
    const start = Math.max(left, low * unit.divisor / bandwidth);
    const name = bandwidth >= 1e12 ? figure(bandwidth / 1e12) + " TB/s" : figure(bandwidth / 1e9) + " GB/s";
    if (start < ridge) series.push(roofLine("memory " + name, [[start, start * bandwidth / unit.divisor], [ridge, peak / unit.divisor]], "start"));
  }
  if (peak) series.push(roofLine(section.roof + " " + figure(peak / unit.divisor) + " " + unit.name, [[known ? Math.max(left, ridge) : left, peak / unit.divisor], [right, peak / unit.divisor]], "end"));
  const climb = arrows(lines, unit);
  if (climb.length) series[0].markLine = { silent: true, z: 2, animation: false, symbol: ["none", "arrow"], symbolSize: 9, label: { show: false }, lineStyle: { color: SOFT, width: 1.4, type: "solid" }, data: climb };
  const option = { ...frame(),
    grid: { left: 64, right: labelRoom(lines, width), top: 36, bottom: 50 },
    xAxis: axis(intensity, { type: "log", logBase: 2, min: left, max: right, nameGap: 28, axisLabel: { color: SOFT, fontSize: 12, hideOverlap: true, formatter: String } }),
    yAxis: axis(unit.name, { type: "log", min: low, max: high, nameGap: 46, axisLabel: { color: SOFT, fontSize: 12, formatter: String } }),
    series: series.filter(Boolean) };
  return { option, left: more };
}

// arrows lead from rung to rung at the largest size that all measured rungs
// have; with all block shapes shown there are none.
function arrows(lines, unit) {
  const rungs = lines.filter((line) => !line.predicted && line.kernel.short !== line.kernel.name);
  const once = new Set(rungs.map((line) => line.kernel.name)).size === rungs.length;
  if (allBlocks || !once || rungs.length < 2) return [];
  const common = [...rungs[0].at.keys()].filter((size) => rungs.every((line) => line.at.has(size)));
  if (!common.length) return [];
  const size = Math.max(...common);
  const at = rungs.map((line) => line.at.get(size)).map((p) => [p.intensity, p.rate / unit.divisor]);
  return at.slice(1).map((to, i) => [{ coord: at[i] }, { coord: to }]);
}
