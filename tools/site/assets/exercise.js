"use strict";
// The exercise of a lesson: an editor whose text is checked as it is typed, and kept in this browser.
(() => {
  // The pages of lessons whose exercise is solved in this browser have a mark in every list.
  for (const a of document.querySelectorAll("a[href]")) {
    const [, n] = a.href.match(/\/workshop\/lesson(\d+)\.html$/) ?? [];
    try { if (n && localStorage.getItem(`right ${n}`)) a.append(element("span", { class: "solved", title: "solved" }, " ✓")); } catch {}
  }
  const section = document.querySelector(".exercise");
  if (!section) return;
  const { number, file } = section.dataset;
  const area = section.querySelector("textarea"), blank = area.value;
  const keep = { text: (n) => `exercise ${n}`, right: (n) => `right ${n}`, guess: (n) => `prediction ${n}`, name: "name" };
  const get = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const set = (key, value) => { try { if (value == null) localStorage.removeItem(key); else localStorage.setItem(key, value); } catch {} };
  area.value = get(keep.text(number)) ?? blank;

  // A prediction is written down before anything runs. What needs no clock is said at once.
  const guess = element("textarea", { id: "prediction", rows: 2, maxlength: 400, value: get(keep.guess(number)) ?? "" }), came = element("div");
  guess.oninput = () => set(keep.guess(number), guess.value.trim() || null);
  document.getElementById("run").before(element("div", { class: "predict" }, element("label", { for: "prediction" }, "Your prediction, kept in this browser:"), guess,
    element("button", { type: "button", onclick: async () => {
      const { Answers } = await engine.call("exercise", +number);
      came.replaceChildren(element("ul", {}, ...(Answers ?? ["Only a measurement tells: read on."]).map((a) => element("li", {}, a))));
    } }, "Compare"), came));

  const score = element("p", { class: "score", role: "status" }, "The checker loads …"), verdict = element("div", { class: "verdict" });
  const player = element("div"), watch = element("details", { class: "watch", hidden: true, open: "" }, element("summary", {}, "Watch its blocks"), player);
  const said = element("div", { class: "hints" });
  const next = document.querySelector(".turn a[rel=next]");
  let hints = [], wanted = 0, recording;

  let played; // what the player shows, so that it does not begin again for the same steps
  const show = () => {
    const now = JSON.stringify(recording);
    if (watch.open && recording && now !== played) { played = now; traversalPlayer(player, recording, 3); }
  };
  watch.addEventListener("toggle", show);

  const check = latest(async (text) => {
    set(keep.text(number), text === blank ? null : text);
    let made;
    const slow = setTimeout(() => { score.textContent = `It runs … (stopped after ${engine.limit / 1000} seconds)`; }, 400);
    try {
      made = await engine.call("check", +number, text);
    } catch (err) {
      made = { Lines: [{ Text: err.message }] };
    }
    clearTimeout(slow);
    set(keep.right(number), made.OK ? "true" : null);
    section.classList.toggle("right", !!made.OK);
    if (made.Mistakes) {
      const [{ Line, Text }] = made.Mistakes;
      score.textContent = `Does not compile: line ${Line}: ${Text}`;
      verdict.replaceChildren(mistakes(made.Mistakes, edit));
      return;
    }
    wanted = made.Hint ?? wanted;
    edit.mark([...made.Lines.map((l) => l.Text).join("\n").matchAll(/\w+\.go:(\d+)/g)].map((m) => +m[1]));
    const good = made.Lines.filter((l) => l.OK).length;
    score.textContent = made.OK ? "Right" : `${good} of ${made.Lines.length} right. ${made.Lines.find((l) => !l.OK).Text.split("\n").pop()}`;
    verdict.replaceChildren(
      element("ul", { class: "lines" }, ...made.Lines.map((l) => element("li", { class: l.OK ? "ok" : "wrong" },
        element("b", {}, l.OK ? "ok" : "wrong"), element("span", l.Text.includes("\n") ? { class: "table" } : {}, l.Text),
        l.Target ? element("meter", { min: 0, max: Math.max(l.Got, l.Target), high: l.Target, optimum: 0, value: l.Got, title: "full and green: just the target; yellow: more than it", "aria-label": "counter against its target" }) : null))),
      made.OK ? element("p", { class: "moral" }, made.Moral + " ", next ? element("a", { href: next.href }, `Next: ${next.lastChild.textContent}`) : null) : "");
    recording = made.Recording;
    watch.hidden = !recording;
    show();
  });
  const edit = editor(area, check);

  const turn = area.value.slice(0, area.value.indexOf("YOUR TURN") + 1).split("\n").length;
  area.scrollTop = (turn - 12) * parseFloat(getComputedStyle(area).lineHeight);

  const button = (text, onclick) => element("button", { type: "button", onclick }, text);
  // help shows one more hint: that for what is wrong first, then those behind it.
  async function help(of) {
    const made = await engine.call("exercise", +number);
    if (of === "solution") return said.replaceChildren(element("pre", {}, element("code", {}, made.Solution)));
    const order = made.Hints.map((_, i) => (wanted + i) % made.Hints.length), one = order.find((i) => !hints.includes(i));
    if (one != null) hints.push(one);
    said.replaceChildren(element("ul", {}, ...hints.map((i) => element("li", {}, made.Hints[i].Text))), hints.length < made.Hints.length ? "" : "These are all hints.");
  }
  const name = element("input", { id: "handin", pattern: "[\\p{L}\\p{N}][\\p{L}\\p{N} ._\\-]*", maxlength: 40, autocomplete: "off", value: get(keep.name) ?? "" });
  name.oninput = () => set(keep.name, name.value);
  section.append(
    score,
    element("p", { class: "keys" }, "Tab indents; Escape, then Tab, leaves the editor."),
    element("div", { class: "buttons" },
      button("Hint", () => help("hint")), button("Solution", () => help("solution")),
      button("Reset", () => { if (confirm("Put the exercise back to how it comes? What you wrote is gone.")) { hints = []; said.replaceChildren(); edit.set(blank); } }),
      button("Download " + file.split("/").pop(), () => download(file.split("/").pop(), area.value))),
    said, verdict, watch,
    element("form", { class: "handin", onsubmit: (e) => { e.preventDefault(); handIn(); } },
      element("label", { for: "handin" }, "Your name"), name, element("button", {}, "Download all your work"),
      element("small", {}, "A hand-in for ", element("code", {}, "workshop class"), ", and the files to unpack over the repository. Nothing leaves this page by itself.")));
  name.required = true;

  // handIn packs what this browser keeps, as cmd/workshop reads it.
  function handIn() {
    const files = { "about.txt": `matladder workshop hand-in 1\n${name.value.trim()}\nin a browser\n` };
    let verdicts = "", predictions = "";
    for (const [n, at] of Object.entries(JSON.parse(section.dataset.files))) {
      verdicts += `${n},${get(keep.right(n)) === "true"}\n`;
      const said = get(keep.guess(n))?.replace(/\s+/g, " ").replaceAll('"', '""');
      if (said) predictions += `${new Date().toISOString().slice(0, 19)}Z,${n},"${said}"\n`;
      const text = n === number ? area.value : get(keep.text(n));
      if (text != null) files[at] = text;
    }
    files["verdicts.csv"] = verdicts;
    if (predictions) files["predictions.csv"] = predictions;
    download(name.value.trim().replaceAll(" ", "_") + ".zip", zip(files));
  }

  // zip is an archive of files as they are.
  function zip(files) {
    const table = Uint32Array.from({ length: 256 }, (_, c) => { for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1; return c; });
    const utf8 = new TextEncoder(), out = [], list = [];
    let at = 0, listed = 0;
    const numbers = (...pairs) => {
      const b = new DataView(new ArrayBuffer(pairs.reduce((n, [size]) => n + size, 0)));
      let o = 0;
      for (const [size, v] of pairs) { if (size === 2) b.setUint16(o, v, true); else b.setUint32(o, v, true); o += size; }
      return b;
    };
    for (const [name, text] of Object.entries(files)) {
      const path = utf8.encode(name), data = utf8.encode(text);
      let crc = ~0;
      for (const b of data) crc = table[(crc ^ b) & 255] ^ (crc >>> 8);
      const both = [[2, 20], [2, 0x800], [2, 0], [4, 0x210000], [4, ~crc], [4, data.length], [4, data.length], [2, path.length], [2, 0]];
      out.push(numbers([4, 0x04034b50], ...both), path, data);
      list.push(numbers([4, 0x02014b50], [2, 20], ...both, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), path);
      at += 30 + path.length + data.length;
      listed += 46 + path.length;
    }
    const n = Object.keys(files).length;
    return new Blob([...out, ...list, numbers([4, 0x06054b50], [2, 0], [2, 0], [2, n], [2, n], [4, listed], [4, at], [2, 0])]);
  }

  // The program loads when the exercise comes near.
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((s) => s.isIntersecting)) return;
    observer.disconnect();
    check(area.value);
  }, { rootMargin: "400px" }).observe(section);
})();
