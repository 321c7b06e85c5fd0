"use strict";
// The points as objects, and how figures are written: as package results does.

const POINTS = DATA.kernel.map((_, i) => {
  const text = (column) => DATA.texts[DATA[column][i]];
  const point = { section: DATA.section[i], kernel: DATA.kernel[i], size: DATA.size[i], order: i,
    predicted: DATA.predicted[i] === 1, rough: DATA.rough[i], best: DATA.best[i] === 1 };
  for (const name of ["variant", "blocks", "params", "how", "run", "spread", "below", "status", "reason"]) point[name] = text(name);
  for (const name of ["rate", "lo", "hi", "seconds", "peak", "baseline", "over", "bound", "error", "intensity"]) point[name] = DATA[name][i];
  return point;
});

// The page's colours, and those of kernels, follow the browser's theme: on dark paper
// colours are lighter, and the baseline's black is nearly white.
let INK, SOFT, GRID, PAPER;
const DARK = window.matchMedia("(prefers-color-scheme: dark)");
const DAY = DATA.kernels.map(({ colour, ink }) => ({ colour, ink }));

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  [INK, SOFT, GRID, PAPER] = ["ink", "soft", "grid", "paper"].map((name) => style.getPropertyValue("--" + name).trim());
  DATA.kernels.forEach((k, i) => {
    k.colour = DARK.matches ? lighter(DAY[i].colour, 0.2) : DAY[i].colour;
    k.ink = DARK.matches ? lighter(DAY[i].colour, 0.4) : DAY[i].ink;
  });
}

// lighter mixes a colour with white; one that is nearly black with more of it.
function lighter(colour, part) {
  const rgb = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  if (Math.max(...rgb) < 64) part = 0.85;
  return "#" + rgb.map((v) => Math.round(v + part * (255 - v)).toString(16).padStart(2, "0")).join("");
}

// figure writes three significant digits without an exponent; of whole numbers
// above 1000 it keeps all.
function figure(v) {
  if (v === null) return "";
  if (v === 0) return "0";
  const exponent = +v.toExponential(2).split("e")[1];
  return v.toFixed(Math.min(100, Math.max(0, 2 - exponent)));
}

// unsure marks the text of a figure of a point that is not to be relied on, as tables of bench do.
const ROUGH = { time: 1, rate: 2, peak: 4, baseline: 8, over: 16 };
const unsure = (point, of, text) => (text && point.rough & ROUGH[of] ? "†" + text : text);

function seconds(s) {
  if (s === null) return "";
  for (const [name, unit] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) if (s >= 0.9995 * unit) return figure(s / unit) + " " + name;
  return figure(s / 1e-9) + " ns";
}

// error writes two digits.
function error(v) {
  if (v === null) return "";
  if (v === 0) return "0";
  return v >= 1e-4 && v < 100 ? String(+v.toPrecision(2)) : v.toExponential(1).replace(".0e", "e").replace(/e([+-])(\d)$/, "e$10$2");
}

// rateUnit is the unit of a section's rates up to most.
function rateUnit(most, section) {
  const [letter, divisor] = most >= 1e12 ? ["T", 1e12] : ["G", 1e9];
  return { name: letter + section.unit, divisor };
}

// element makes a tag with a text or children; texts are never read as HTML.
function element(tag, content, attributes) {
  const e = document.createElement(tag);
  if (Array.isArray(content)) e.append(...content);
  else if (content !== undefined && content !== null) e.textContent = content;
  for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
  return e;
}
