// Filters: a group of boxes for each property that has more than one value.
// A point is shown if each group has its value ticked.

const FILTERS = [
  { name: "dtype", of: (p) => DATA.sections[p.section].dtype },
  { name: "kernel", of: (p) => DATA.kernels[p.kernel].name, colour: true, values: DATA.kernels.map((k) => k.name) },
  { name: "size", of: (p) => DATA.sizes[p.size].name, values: DATA.sizes.map((s) => s.name) },
  { name: "mode", of: (p) => (p.predicted ? "predicted" : "measured") },
  { name: "machine", of: (p) => DATA.sections[p.section].machine },
];
let allBlocks = false;

// shown lists the points that pass all filters, in the order of the table.
function shown() {
  return POINTS.filter((p) => (allBlocks || p.best) && FILTERS.every((f) => f.on.has(f.of(p))));
}

// buildFilters fills the form and calls changed whenever a box is.
function buildFilters(form, changed) {
  for (const f of FILTERS) {
    f.values = f.values || [...new Set(POINTS.map(f.of))];
    f.on = new Set(f.values);
    if (f.values.length < 2) continue;
    const boxes = [];
    const group = element("fieldset", [element("legend", f.name)], { "data-filter": f.name });
    for (const [name, on] of f.values.length > 2 ? [["all", true], ["none", false]] : []) {
      const button = element("button", name, { type: "button", "aria-label": name + " of " + f.name });
      button.addEventListener("click", () => {
        f.on = new Set(on ? f.values : []);
        boxes.forEach((box) => { box.checked = on; });
        changed();
      });
      group.append(button);
    }
    f.values.forEach((value, i) => {
      const box = element("input", null, { type: "checkbox", value });
      box.checked = true;
      boxes.push(box);
      box.addEventListener("change", () => {
        if (box.checked) f.on.add(value); else f.on.delete(value);
        changed();
      });
      const parts = [box];
      if (f.colour) {
        const dot = element("i");
        dot.dataset.kernel = i; // coloured by the theme
        parts.push(dot);
      }
      group.append(element("label", [...parts, element("span", value)]));
    });
    form.append(group);
  }
  if (POINTS.some((p) => !p.best)) {
    const box = element("input", null, { type: "checkbox", value: "blocks" });
    box.addEventListener("change", () => { allBlocks = box.checked; changed(); });
    form.append(element("fieldset", [element("legend", "blocks"), element("label", [box, element("span", "all shapes, not only the fastest")])], { "data-filter": "blocks" }));
  }
}
