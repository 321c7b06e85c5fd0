// traversalPlayer shows a recording of package traverse inside element, its title as a heading
// of a level.
function traversalPlayer(element, recording, level) {
  "use strict";
  const steps = recording.steps;
  const colour = { once: "#cfe8f7", often: "#8fc7ea", kept: "#0072b2", first: "#009e73", again: "#d55e00" };
  const current = [colour.kept, colour.first, colour.again];
  let at = 0, timer = null;

  element.classList.add("traversal");
  level ||= 1;
  element.innerHTML = `<h${level}></h${level}>
    <div class="bar"><button data-do="start" aria-label="to the start">start</button><button data-do="back" aria-label="one step back">◀</button>
    <button data-do="play">play</button><button data-do="next" aria-label="one step on">▶</button>
    <input class="at" type="range" min="0" aria-label="step">
    <label>speed <input class="speed" type="range" min="0" max="7" value="3"></label></div>
    <canvas></canvas><dl></dl><div class="key"></div><p></p>`;
  const find = (s) => element.querySelector(s);
  find(`h${level}`).textContent = recording.title;
  find(".key").innerHTML = [["first", "moved for this step"], ["again", "moved again"], ["kept", "kept: the index did not change"],
    ["once", "moved once before"], ["often", "moved more than once before"]]
    .map(([name, text]) => `<span><i style="background:${colour[name]}"></i>${text}</span>`).join("");
  const more = recording.totals.grid_steps - steps.length;
  find("p").textContent = (more > 0 ? `The first ${steps.length} of ${recording.totals.grid_steps} steps. ` : "") +
    `Whole launch: ${size(recording.totals.bytes_moved)} moved, ${size(recording.totals.bytes_reread)} of them again.`;
  const look = getComputedStyle(element), ink = look.color, paper = look.backgroundColor;
  const canvas = find("canvas"), slider = find(".at"), play = find("[data-do=play]");
  slider.max = Math.max(0, steps.length - 1);

  function scaled(n, base, units) {
    let u = 0;
    while (n >= base && u < units.length - 1) { n /= base; u++; }
    return (u ? n.toFixed(1) : n) + " " + units[u];
  }
  function size(n) { return scaled(n, 1000, ["B", "kB", "MB", "GB", "TB"]); }
  function memory(n) { return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]); }

  // An array is drawn as a matrix: all dimensions but the last are its rows.
  const rowsOf = (a) => a.slice(0, -1).reduce((x, y) => x * y, 1);
  const colsOf = (a) => (a.length ? a[a.length - 1] : 1);
  function rectangle(ref, block) {
    if (!block) return [0, 0, rowsOf(ref.array), colsOf(ref.array)];
    const last = ref.array.length - 1;
    let row = 0, height = 1;
    for (let d = 0; d < last; d++) {
      row = row * ref.array[d] + block[d] * ref.block[d];
      height = Math.min(ref.block[d], ref.array[d] - block[d] * ref.block[d]);
    }
    const col = block[last] * ref.block[last];
    return [row, col, row + height, Math.min(col + ref.block[last], ref.array[last])];
  }

  // a stands left of o and b above it, so that rows and columns line up.
  function layout(refs, width) {
    const gap = 28, pad = 20;
    const by = Object.fromEntries(refs.map((r) => [r.name, r]));
    const places = new Map();
    if (by.a && by.b && by.o && refs.every((r) => r.array.length === 2)) {
      const m = by.a.array[0], k = by.a.array[1], n = by.b.array[1];
      const scale = Math.min((width - gap - pad) / (k + n), Math.max(240, Math.min(560, window.innerHeight - 330)) / (k + m));
      const px = (x) => Math.max(16, x * scale);
      const left = Math.max(0, (width - pad - gap - px(k) - px(n)) / 2);
      places.set(by.b, [left + px(k) + gap, pad, px(n), px(k)]);
      places.set(by.a, [left, pad + px(k) + gap, px(k), px(m)]);
      places.set(by.o, [left + px(k) + gap, pad + px(k) + gap, px(n), px(m)]);
    }
    const rest = refs.filter((r) => !places.has(r));
    const top = Math.max(0, ...[...places.values()].map((p) => p[1] + p[3])) + pad;
    const each = rest.length ? (width - gap * (rest.length - 1)) / rest.length : 0;
    rest.forEach((r, i) => {
      const rows = rowsOf(r.array), cols = colsOf(r.array);
      const scale = Math.min(each / cols, (places.size ? 40 : 400) / rows);
      places.set(r, [i * (each + gap), top, Math.max(16, cols * scale), Math.max(16, rows * scale)]);
    });
    return { places, height: Math.max(...[...places.values()].map((p) => p[1] + p[3])) + 4 };
  }

  function draw() {
    if (!steps.length) return;
    const step = steps[at], program = recording.programs[step.program];
    const ratio = window.devicePixelRatio || 1, width = element.clientWidth - 16;
    // Scratch is one block, in use at each step.
    const kept = (program.scratch || []).map((r) => ({ ...r, array: r.block, scratch: true })), refs = [...program.refs, ...kept];
    const { places, height } = layout(refs, width);
    canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = height + "px";
    const g = canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.font = "13px system-ui, sans-serif";
    const box = (r, block) => {
      const [x, y, w, h] = places.get(r), rows = rowsOf(r.array), cols = colsOf(r.array);
      const [r0, c0, r1, c1] = rectangle(r, block);
      return [x + c0 / cols * w, y + r0 / rows * h, Math.max(1, (c1 - c0) / cols * w), Math.max(1, (r1 - r0) / rows * h)];
    };
    refs.forEach((r, i) => {
      const [x, y, w, h] = places.get(r);
      g.fillStyle = r.scratch ? colour.kept : paper; g.fillRect(x, y, w, h);
      const moves = new Map();
      for (let s = 0; s < at; s++) {
        if (steps[s].program !== step.program || !steps[s].moves[i]) continue;
        const key = String(steps[s].blocks[i]);
        moves.set(key, [(moves.get(key) || [0])[0] + 1, steps[s].blocks[i]]);
      }
      for (const [n, block] of moves.values()) { g.fillStyle = n > 1 ? colour.often : colour.once; g.fillRect(...box(r, block)); }
      if (!r.scratch) { g.fillStyle = current[step.moves[i]]; g.fillRect(...box(r, step.blocks[i])); }
      g.strokeStyle = "#999"; g.lineWidth = 0.5;
      const rows = rowsOf(r.array), cols = colsOf(r.array);
      const bh = r.block.length > 1 ? r.block[r.block.length - 2] : 1, bw = r.block.length ? r.block[r.block.length - 1] : 1;
      if (bw / cols * w > 4) for (let c = bw; c < cols; c += bw) { g.beginPath(); g.moveTo(x + c / cols * w, y); g.lineTo(x + c / cols * w, y + h); g.stroke(); }
      if (bh / rows * h > 4 && r.array.length === 2) for (let b = bh; b < rows; b += bh) { g.beginPath(); g.moveTo(x, y + b / rows * h); g.lineTo(x + w, y + b / rows * h); g.stroke(); }
      g.strokeStyle = ink; g.lineWidth = 1; g.strokeRect(x, y, w, h);
      g.fillStyle = ink;
      const name = r.name + "  " + r.array.join("×") + (r.scratch ? ", stays in fast memory" : "");
      g.fillText(r.scratch || g.measureText(name).width < w + 24 ? name : r.name, x, y - 6);
    });
    const c = step.after;
    const ids = program.axes.map((a, d) => `${a.name}=${step.ids[d]}`).join(" ") || "one program";
    const figures = { "step": `${c.grid_steps} of ${recording.totals.grid_steps}`, "program ids": ids, "loads": c.blocks_loaded, "loads skipped": c.loads_skipped,
      "moved": size(c.bytes_moved), "moved again": size(c.bytes_reread), "fast memory": memory(c.fast_bytes) };
    find("dl").innerHTML = Object.keys(figures).map((name) => `<div><dt>${name}</dt><dd></dd></div>`).join("");
    Object.values(figures).forEach((value, i) => { element.querySelectorAll("dd")[i].textContent = value; });
    slider.value = at;
  }

  function go(to) { at = Math.max(0, Math.min(steps.length - 1, to)); draw(); if (at === steps.length - 1) stop(); }
  function stop() { clearTimeout(timer); timer = null; play.textContent = "play"; }
  function tick() { timer = setTimeout(() => { go(at + 1); if (timer) tick(); }, 1000 / 2 ** find(".speed").value); }
  const actions = {
    start: () => { stop(); go(0); }, back: () => { stop(); go(at - 1); }, next: () => { stop(); go(at + 1); },
    play: () => { if (timer) return stop(); if (at === steps.length - 1) go(0); play.textContent = "pause"; tick(); },
  };
  element.querySelectorAll("button").forEach((b) => b.addEventListener("click", actions[b.dataset.do]));
  slider.addEventListener("input", () => { stop(); go(+slider.value); });
  const resized = () => { if (canvas.isConnected) draw(); else window.removeEventListener("resize", resized); };
  window.addEventListener("resize", resized);
  draw();
}
