"use strict";
// The playground: source on the left, what the Go program says of it on the right.
(() => {
  const section = document.querySelector(".play"), area = section.querySelector("textarea");
  const get = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const set = (key, value) => { try { localStorage.setItem(key, value); } catch {} };

  // A link holds the program: deflated, in base64 for addresses.
  const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  async function pack(text) {
    const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
    return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  }

  const menu = element("select", { id: "example" }), chip = element("select", { id: "chip" });
  const status = element("p", { class: "verdict", role: "status" }, "The program that reads yours loads …");
  const counts = element("table"), text = element("code"), mosaic = element("code"), triton = element("code"), player = element("div");
  const x86 = element("div"), schedule = element("div"); // recorded
  const link = element("button", { type: "button" }, "Copy a link");
  const views = {
    Counts: element("div", { class: "table" }, counts), Program: element("pre", {}, text), Blocks: player,
    Mosaic: element("pre", {}, mosaic), Triton: element("pre", {}, triton),
    x86, Schedule: schedule,
  };
  let recording, sum, shown = "Counts";
  const tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "What is shown" }, ...Object.keys(views).map((name) =>
    element("button", { type: "button", role: "tab", id: "tab-" + name, "aria-controls": "view-" + name, onclick: () => show(name) }, name)));
  for (const [name, view] of Object.entries(views)) {
    view.id = "view-" + name;
    view.setAttribute("role", "tabpanel");
    view.setAttribute("aria-labelledby", "tab-" + name);
    view.tabIndex = 0;
  }
  function show(name) {
    shown = name;
    for (const tab of tabs.children) {
      const on = tab.textContent === name;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
      views[tab.textContent].hidden = !on;
    }
    if (name === "Blocks") watch();
    if (name === "x86" || name === "Schedule") recall();
  }

  // recall shows what compilers made of a program of the menu.
  let loading;
  async function recall() {
    await (loading ||= new Promise((done, failed) => {
      const s = element("script", { src: document.documentElement.dataset.root + "site/recorded.js", onload: done, onerror: failed });
      document.head.append(s);
    }));
    for (const name of ["x86", "Schedule"]) {
      const run = recorded.Views[sum]?.[name], by = name === "x86" ? `for ${recorded.Machine}` : "for a TPU v5e, predicted";
      views[name].replaceChildren(...(!run ? [element("p", {}, "A compiler makes this, and a page has none. It was recorded for programs of the menu as they are: this is another.")]
        : !run.Text ? [element("p", {}, `This program has none: ${run.Command} refused it on ${recorded.Date}.`)]
        : [element("p", {}, `Recorded on ${recorded.Date} ${by}: `, element("code", {}, run.Command)), element("pre", {}, element("code", {}, run.Text.map((i) => recorded.Texts[i]).join("\n\n")))]));
    }
  }
  tabs.addEventListener("keydown", (e) => {
    const list = [...tabs.children], at = list.indexOf(document.activeElement), by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (by == null || at < 0) return;
    const next = list[(at + by + list.length) % list.length];
    show(next.textContent);
    next.focus();
  });
  function watch() {
    if (recording) traversalPlayer(player, recording, 2);
    else player.replaceChildren(element("p", {}, "There are no steps to show: tables say what this program does, or its grid is too large."));
  }

  const bytes = (n) => { let u = 0; while (n >= 1000 && u < 4) { n /= 1000; u++; } return `${u ? n.toFixed(1) : n} ${["B", "kB", "MB", "GB", "TB"][u]}`; };
  const binary = (n) => { let u = 0; while (n >= 1024 && u < 3) { n /= 1024; u++; } return `${u ? n.toFixed(1) : n} ${["B", "KiB", "MiB", "GiB"][u]}`; };
  const tera = (n) => `${(n / 1e12).toPrecision(4)} TFLOP/s`;
  function table(made) {
    const c = made.Counts, r = made.Roofline, rows = [];
    if (!c) return [["counts", "only a run tells which blocks move"]];
    rows.push(["grid steps", c.GridSteps.toLocaleString("en")], ["FLOPs", c.FLOPs.toLocaleString("en")], ["bytes moved", bytes(c.BytesMoved)],
      ["bytes at least", bytes(c.BytesMin)], ["fast memory", `${binary(c.FastBytes)}${made.Fits ? ", " + made.Fits : ""}`, made.TooLarge], ["intensity", `${made.Intensity.toFixed(1)} FLOPs per byte moved`]);
    if (r && c.FLOPs) {
      rows.push(["ridge", `${r.Ridge.toFixed(1)} FLOPs per byte, where the roofs meet`], ["limit", r.Limit === "memory" ? "memory bandwidth" : "arithmetic"],
        ["roofline", `${tera(r.Attainable)}, ${(100 * r.Attainable / made.Peak).toPrecision(3)} % of the ${made.Dtype} peak`], ["time at that rate", `${(r.Seconds * 1e6).toPrecision(4)} µs`]);
    } else {
      rows.push(["roofline", c.FLOPs ? `the chip has no ${made.Dtype} peak that is published` : "no products: bytes alone count"]);
    }
    return rows;
  }

  // say shows a state of the program: running, right, warned or wrong.
  function say(state, ...what) {
    status.className = `verdict ${state}`;
    status.replaceChildren(...what);
  }
  const run = latest(async (source) => {
    set("play", source);
    let made;
    const slow = setTimeout(() => say("running", `Running … (stopped after ${engine.limit / 1000} seconds)`), 300);
    try {
      made = await engine.call("play", source, chip.value);
    } catch (err) {
      made = { Wrong: err.message };
    }
    clearTimeout(slow);
    const right = !made.Mistakes && !made.Wrong;
    for (const view of Object.values(views)) view.classList.toggle("old", !right);
    if (made.Mistakes) return say("wrong", "Does not compile.", mistakes(made.Mistakes, edit));
    const lines = [...(made.Wrong ?? "").matchAll(/program\.go:(\d+)/g)].map((m) => +m[1]);
    edit.mark(lines);
    if (made.Wrong) return say("wrong", made.Wrong);
    if (made.TooLarge) say("warned", "Verify finds nothing wrong, but the program is too large for the chip: its fast memory ", made.Fits, ".");
    else say("right", "Verify finds nothing wrong.");
    counts.replaceChildren(element("tbody", {}, ...table(made).map(([name, value, wrong]) => element("tr", wrong ? { class: "wrong" } : {}, element("th", { scope: "row" }, name), element("td", {}, value)))));
    text.textContent = made.Text;
    mosaic.textContent = made.Mosaic;
    triton.textContent = made.Triton;
    recording = made.Recording;
    sum = made.Sum;
    if (loading) recall();
    if (shown === "Blocks") watch();
  });
  const left = element("div", { class: "left" }, area);
  section.append(
    element("div", { class: "buttons" }, element("label", { for: "example" }, "Example"), menu, element("label", { for: "chip" }, "Chip"), chip, link),
    left, element("div", { class: "right" }, status, tabs, ...Object.values(views)));
  const edit = editor(area, run);
  left.append(element("p", { class: "keys" }, "Tab indents; Escape, then Tab, leaves the editor."));
  show(shown);
  menu.onchange = async () => { if (menu.value) edit.set(await engine.call("example", +menu.value)); };
  chip.onchange = () => run(area.value);
  link.onclick = async () => {
    history.replaceState(null, "", "#" + await pack(area.value));
    try { await navigator.clipboard.writeText(location.href); link.textContent = "Copied"; } catch { link.textContent = "It is in the address"; }
    setTimeout(() => { link.textContent = "Copy a link"; }, 1500);
  };

  (async () => {
    let known;
    try {
      known = await engine.call("menu");
    } catch (err) {
      return say("wrong", err.message);
    }
    menu.append(element("option", { value: "" }, "your own"), ...Object.entries(Object.groupBy(known.Examples.map((e, i) => ({ ...e, i })), (e) => e.Group)).map(([group, list]) =>
      element("optgroup", { label: group }, ...list.map((e) => element("option", { value: e.i }, e.Name)))));
    chip.append(...known.Chips.map((key) => element("option", { value: key }, key)));
    chip.value = "tpu_v5e";
    const linked = location.hash.length > 1 ? await unpack(location.hash.slice(1)).catch(() => null) : null;
    const source = linked ?? get("play");
    if (source) edit.set(source); else { menu.value = known.Examples.findIndex((e) => e.Name === "v3"); await menu.onchange(); }
  })();
})();
