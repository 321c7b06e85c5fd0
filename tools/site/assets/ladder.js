"use strict";
// Ladders that a page measures itself: the five rungs, or the steps of the CPU backend, by the
// program in a worker. Rows take turns, one call a sample, so that it stops between two.
for (const section of document.querySelectorAll(".ladder")) {
  const least = 6; // rounds: fewer give no interval
  const kinds = {
    rungs: { button: "Measure the five rungs in this browser", first: "v1" },
    steps: { button: "Measure the steps inside the CPU backend", first: "loops" },
  };
  const bench = engineOf("measure", 60000, ": try the smaller size.");
  const size = element("select", { "aria-label": "Size" }, ...[256, 512].map((n) => element("option", { value: n }, `${n}×${n}`)));
  const status = element("p", { class: "verdict", role: "status", hidden: true });
  const buttons = element("div", { class: "buttons" });
  const results = element("div");
  let busy = false, stopping = false;

  const say = (text, state = "") => { status.hidden = false; status.className = `verdict ${state}`; status.textContent = text; };
  const three = (x) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));
  const time = (s) => (s < 1 ? `${three(s * 1e3)} ms` : `${three(s)} s`);

  // draw shows rows as they are by now, as a table and as bars with intervals.
  function draw(at, kind, n, rows, tick) {
    const timed = rows.filter((r) => r.Samples), most = Math.max(...timed.map((r) => r.High)), share = (x) => `${(100 * x / most).toFixed(1)}%`;
    const cells = (r) => (r.Missing ? [element("td", { colspan: 4 }, r.Missing)]
      : (r.Samples ? [time(r.Seconds), r.Samples > 1 ? `${(100 * r.Spread).toFixed(1)} %` : "…", three(r.GFLOPs), r.Over ? `${three(r.Over)}×` : "…"] : Array(4).fill("…")).map((text) => element("td", {}, text)));
    at.replaceChildren(
      element("p", { class: "title" }, `float32 ${n}×${n}×${n}: measured, WebAssembly, one thread, this browser`),
      element("div", { class: "table" }, element("table", {},
        element("thead", {}, element("tr", {}, ...[kind === "rungs" ? "rung" : "step", "median", "±", "GFLOP/s", `× ${kinds[kind].first}`].map((text) => element("th", { scope: "col" }, text)))),
        element("tbody", {}, ...rows.map((r) => element("tr", r.Verified ? { class: "ok" } : {},
          element("th", { scope: "row" }, r.Name, r.Verified ? element("small", {}, `verified, ${r.Blocks.replaceAll("x", "×")}`) : null), ...cells(r)))))),
      element("div", { class: "bars", "aria-hidden": "true" }, ...timed.flatMap((r) => [element("span", {}, r.Name),
        element("div", {}, element("i", { style: `width: ${share(r.GFLOPs)}` }), element("b", { style: `left: ${share(r.Low)}; width: ${share(r.High - r.Low)}` })), element("span", {}, `${three(r.GFLOPs)} GFLOP/s`)])),
      element("p", { class: "keys" }, !timed.length ? "" : `Rounds in turns: ${timed[0].Samples}. Launches in a sample: ${[...new Set(timed.map((r) => r.Launches))].sort((a, b) => a - b).join(", ")}. The clock has steps of ${+(tick * 1e3).toPrecision(1)} ms. ± and the line on a bar are the 95 % interval of the median.`
        + (timed.some((r) => r.Spread > 0.1) ? " Above 10 %, others used the machine too: close what else runs, and measure again." : "")));
  }

  async function measure(kind, at) {
    const n = +size.value, { seconds } = section.dataset;
    say("The program that measures loads …");
    const { Rows: rows, Tick } = await bench.call("ladder", n, kind === "steps");
    for (const i of rows.keys()) {
      if (stopping) break;
      say(`${rows[i].Name} is compiled, and its output verified …`);
      rows[i] = await bench.call("prepare", i);
      draw(at, kind, n, rows, Tick);
    }
    const timed = [...rows.keys()].filter((i) => rows[i].Verified), begin = performance.now();
    for (let round = 1; !stopping && (round <= least || performance.now() - begin < seconds * 1000); round++) {
      say(`Round ${round}: all take turns, for ${seconds} seconds or ${least} rounds …`);
      for (let i = timed.length - 1; i > 0; i--) { // the first row leads no round more often than others
        const j = Math.floor(Math.random() * (i + 1));
        [timed[i], timed[j]] = [timed[j], timed[i]];
      }
      for (const i of timed) {
        if (!stopping) rows[i] = await bench.call("sample", i);
      }
      draw(at, kind, n, rows, Tick);
    }
    say(stopping ? "Stopped." : "Measured in this page; nothing left it.", stopping ? "" : "right");
  }

  for (const kind of section.dataset.kinds.split(" ")) {
    const at = element("div", { class: kind }), { button: text } = kinds[kind];
    results.append(at);
    const button = element("button", { type: "button", onclick: async () => {
      if (busy) { stopping = true; return; }
      busy = true;
      for (const b of buttons.querySelectorAll("button")) b.disabled = b !== button;
      button.textContent = "Stop";
      try {
        await measure(kind, at);
      } catch (err) {
        say(err.message, "wrong");
      }
      busy = stopping = false;
      button.textContent = text;
      for (const b of buttons.querySelectorAll("button")) b.disabled = false;
    } }, text);
    buttons.append(button);
  }
  buttons.append(size);
  section.append(buttons, status, results);
}
