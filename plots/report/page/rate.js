// Rate against size: square problems on an axis of powers of two, others on one
// of shapes.

function rateGroups(points) {
  const groups = [];
  for (const { section, points: all } of bySection(points)) {
    const square = all.filter((p) => DATA.sizes[p.size].square);
    const other = all.filter((p) => !DATA.sizes[p.size].square);
    if (square.length) groups.push({ title: titleOf(section), draw: (width) => rateOption(section, square, true, width) });
    if (other.length) groups.push({ title: titleOf(section) + (square.length ? " · other shapes" : ""), draw: (width) => rateOption(section, other, false, width) });
  }
  return groups;
}

function rateOption(section, points, square, width) {
  const { lines, left: more } = linesOf(points), ok = points.filter(usable);
  const most = Math.max(section.peak, ...ok.map((p) => p.hi), 0);
  const unit = rateUnit(most, section);
  const sizes = [...new Set(points.map((p) => p.size))].sort((a, b) => a - b);
  const xOf = square ? (p) => Math.log2(DATA.sizes[p.size].square) : (p) => sizes.indexOf(p.size);
  const series = [], crosses = new Map(); // crosses at a place stand side by side
  for (const line of lines) {
    // A point without a figure breaks the line.
    const data = line.points.map((p) => (usable(p) ? { value: [xOf(p), p.rate / unit.divisor], point: p } : { value: [xOf(p), null] }));
    while (data.length && !data[data.length - 1].point) data.pop();
    series.push(lineSeries(line, data));
    series.push(intervalSeries(line, xOf, unit));
    const failed = line.points.filter((p) => !usable(p));
    if (failed.length) {
      series.push({ type: "scatter", z: 4, symbol: "path://M0,0L10,10M10,0L0,10", symbolSize: 9, animation: false, clip: false,
        itemStyle: { color: "none", borderColor: line.kernel.colour, borderWidth: 2 }, data: failed.map((p) => {
          const before = crosses.get(xOf(p)) || 0;
          crosses.set(xOf(p), before + 1);
          return { value: [xOf(p), 0], symbolOffset: [12 * before, 0], point: p };
        }) });
    }
  }
  const xs = points.map(xOf), left = Math.min(...xs) - 0.3, right = Math.max(...xs) + 0.3;
  if (section.peak) {
    series.push(roofLine(section.roof + " " + figure(section.peak / unit.divisor) + " " + unit.name, [[left, section.peak / unit.divisor], [right, section.peak / unit.divisor]], "end"));
  }
  const label = square
    ? { color: SOFT, fontSize: 12, hideOverlap: true, customValues: [...new Set(xs)].sort((a, b) => a - b), formatter: (v) => String(Math.round(2 ** v)) }
    : { color: SOFT, fontSize: 12, hideOverlap: true, customValues: sizes.map((_, i) => i), rotate: width < 700 && sizes.length > 3 ? 30 : 0, formatter: (v) => DATA.sizes[sizes[Math.round(v)]].name };
  const ticks = { customValues: label.customValues };
  const option = { ...frame(),
    grid: { left: 64, right: labelRoom(lines, width), top: 36, bottom: square ? 46 : 78 },
    xAxis: axis(square ? "size " + section.shape.replaceAll("×", " = ") : "shape " + section.shape, { type: "value", min: left, max: right, nameGap: square ? 26 : 54, axisLabel: label, axisTick: ticks, splitLine: { show: false } }),
    yAxis: axis(unit.name, { type: "value", min: 0, max: most > 0 ? undefined : 1, nameGap: 46 }),
    series: series.filter(Boolean) };
  return { option, left: more };
}
