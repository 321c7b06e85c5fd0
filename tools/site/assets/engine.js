"use strict";
// engineOf calls a Go program in a worker, so that what never ends can be stopped, after so many
// milliseconds of a call.
const engineOf = (program, limit, slow) => {
  const engine = { ready, call, limit };
  const root = document.documentElement.dataset.root;
  let module, worker, calls = 0;

  // The program is a script, which a page loads from a file too: gzip in base64.
  const load = () => (module ||= new Promise((done, failed) => {
    const s = document.createElement("script");
    Object.assign(s, { src: `${root}site/${program}.js`, onload: () => done(goPrograms[program]), onerror: () => failed(new Error(`site/${program}.js is missing`)) });
    document.head.append(s);
  }).then(async ({ runtime, wasm }) => {
    const packed = await fetch("data:;base64," + wasm);
    return [runtime, await WebAssembly.compileStreaming(new Response(packed.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } }))];
  }));

  // work is what the worker runs.
  function work() {
    self.onmessage = async ({ data: { module } }) => {
      const go = new Go();
      go.run(await WebAssembly.instantiate(module, go.importObject)).finally(() => postMessage({ ended: true }));
      self.onmessage = ({ data: { id, name, args } }) => postMessage({ id, text: matladder[name](...args) });
      postMessage({ id: 0 });
    };
  }

  async function start() {
    const [runtime, compiled] = await load();
    const w = new Worker(URL.createObjectURL(new Blob([runtime, `\n(${work})();`], { type: "text/javascript" })));
    w.waiting = new Map();
    w.onmessage = ({ data }) => {
      if (data.ended) return stop(w, "The program ended.");
      w.waiting.get(data.id)?.done(data.text);
      w.waiting.delete(data.id);
    };
    w.onerror = (e) => {
      e.preventDefault(); // the page shows it
      stop(w, /call stack|recursion/.test(e.message) ? "It ran out of stack: does a function call itself without end?" : e.message);
    };
    const begun = new Promise((done, failed) => w.waiting.set(0, { done, failed }));
    w.postMessage({ module: compiled });
    await begun;
    return w;
  }

  function stop(w, why) {
    w.terminate();
    worker = null;
    for (const { failed } of w.waiting.values()) failed(new Error(why));
    w.waiting.clear();
    ready(); // for the next call
  }

  function ready() { return (worker ||= start()); }

  // call returns what a function of the program answers. It throws what went wrong.
  async function call(name, ...args) {
    const w = await ready(), id = ++calls;
    const timer = setTimeout(() => stop(w, `It ran for ${engine.limit / 1000} seconds and was stopped${slow}`), engine.limit);
    try {
      const text = await new Promise((done, failed) => {
        w.waiting.set(id, { done, failed });
        w.postMessage({ id, name, args });
      });
      const answer = JSON.parse(text);
      if (answer.Error) throw new Error(answer.Error);
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }
  return engine;
};
const engine = engineOf("program", 5000, ": does every loop end?");

// element makes an element of a page: its attributes, then what is in it.
function element(tag, attributes = {}, ...inside) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on") || name === "hidden" || name === "value") e[name] = value; else e.setAttribute(name, value);
  }
  e.append(...inside.filter((x) => x != null));
  return e;
}

// download hands a file to the reader.
function download(name, content) {
  const a = element("a", { href: URL.createObjectURL(new Blob([content])), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// editor makes a text area one for Go: line numbers, Tab and Enter that indent. changed is called
// with its text, soon after each change. It returns how to mark mistakes in lines.
function editor(area, changed) {
  const numbers = element("pre", { class: "numbers", "aria-hidden": "true" });
  const box = element("div", { class: "editor" }, numbers);
  area.replaceWith(box);
  box.append(area);
  let wrong = [], count = 0, timer;
  const draw = () => {
    count = area.value.split("\n").length;
    area.rows = Math.min(innerWidth < 800 ? 18 : 26, count + 1);
    numbers.replaceChildren(...Array.from({ length: count }, (_, i) => element("span", wrong.includes(i + 1) ? { class: "wrong" } : {}, `${i + 1}`)));
  };
  const follow = () => { numbers.scrollTop = area.scrollTop; };
  const change = () => {
    if (area.value.split("\n").length !== count) draw();
    clearTimeout(timer);
    timer = setTimeout(() => changed(area.value), 50);
  };
  const insert = (text) => document.execCommand("insertText", false, text); // the one way that undo knows
  let leaving = false;
  area.addEventListener("input", change);
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { leaving = true; return; }
    if (e.key === "Tab" && !leaving && !e.shiftKey && !e.ctrlKey && !e.altKey) { e.preventDefault(); insert("\t"); }
    if (e.key === "Enter" && !e.isComposing) {
      const line = area.value.slice(area.value.lastIndexOf("\n", area.selectionStart - 1) + 1, area.selectionStart);
      e.preventDefault();
      insert("\n" + line.match(/^\t*/)[0] + (/[{(]\s*$/.test(line) ? "\t" : ""));
    }
    leaving = false;
  });
  draw();
  return {
    mark(lines) { wrong = lines; draw(); follow(); },
    set(text) { area.value = text; draw(); change(); },
    go(line, column) {
      const before = area.value.split("\n").slice(0, line - 1).join("\n");
      const at = before.length + (line > 1) + Array.from(new TextEncoder().encode(area.value.split("\n")[line - 1] ?? "").slice(0, column - 1)).filter((b) => b < 128 || b > 191).length;
      area.focus();
      area.setSelectionRange(at, at);
      area.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(area).lineHeight));
    },
  };
}

// mistakes is a list of places in source, each of which leads there.
function mistakes(list, edit) {
  edit.mark(list.map((m) => m.Line));
  return element("ul", { class: "mistakes" }, ...list.map((m) =>
    element("li", {}, element("button", { type: "button", onclick: () => edit.go(m.Line, m.Column) }, `${m.Line}:${m.Column}`), " " + m.Text, m.Help ? element("strong", {}, " " + m.Help) : null)));
}

// latest calls f with the last value it was given, one at a time.
function latest(f) {
  let busy = false, next;
  return async function take(value) {
    next = [value];
    if (busy) return;
    busy = true;
    while (next) {
      const [v] = next;
      next = null;
      await f(v);
    }
    busy = false;
  };
}
