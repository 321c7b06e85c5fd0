"use strict";
const root = document.documentElement, $ = (id) => document.getElementById(id);

// Colours: the system's, until a reader chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
function paint() {
  $("theme").setAttribute("aria-pressed", isDark());
  for (const s of document.querySelectorAll("picture source[data-scheme], picture source[media*=prefers-color-scheme]")) {
    s.dataset.scheme ||= s.media.includes("dark") ? "dark" : "light";
    s.media = (s.dataset.scheme === "dark") === isDark() ? "all" : "not all";
  }
}
$("theme").onclick = () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch {}
  paint();
};
dark.onchange = paint;
paint();

// The navigation of a narrow screen.
function menu(open) {
  root.classList.toggle("menu", open);
  $("menu").setAttribute("aria-expanded", open);
  const here = document.querySelector("#pages [aria-current]"), pages = $("pages");
  if (here) pages.scrollTop += here.getBoundingClientRect().top - pages.getBoundingClientRect().top - pages.clientHeight / 2;
}
menu(false);
$("menu").onclick = () => menu(!root.classList.contains("menu"));

// Headings have a link to themselves, commands a button, and what scrolls can be reached by keys.
for (const h of document.querySelectorAll("article :is(h2, h3, h4)[id]")) {
  const a = document.createElement("a");
  Object.assign(a, { className: "anchor", href: "#" + h.id, textContent: "#" });
  a.setAttribute("aria-label", "Link to " + h.textContent);
  h.append(a);
}
for (const pre of document.querySelectorAll("pre.run")) {
  if (!navigator.clipboard) break;
  const lines = pre.textContent.trimEnd().split("\n"), prompts = lines.filter((l) => l.startsWith("$ "));
  const text = prompts.length ? prompts.map((l) => l.slice(2)).join("\n") : lines.join("\n"), b = document.createElement("button");
  Object.assign(b, { className: "copy", type: "button", textContent: "Copy" });
  b.onclick = () => navigator.clipboard.writeText(text).then(() => { b.textContent = "Copied"; setTimeout(() => { b.textContent = "Copy"; }, 1500); });
  pre.append(b);
}
function reach() {
  for (const box of document.querySelectorAll("pre, .table")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
  }
}
addEventListener("resize", reach);
reach();

// Search: pages and sections that have all words, or words that begin so.
const input = $("search"), found = $("found");
let loading;
const load = () => (loading ||= new Promise((done, failed) => {
  const s = document.createElement("script");
  Object.assign(s, { src: root.dataset.root + "site/search.js", onload: () => done(siteIndex), onerror: failed });
  document.head.append(s);
}));
const escape = (s) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const pattern = (word) => new RegExp("(?<![\\p{L}\\p{N}])" + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "iu");
function rate(e, words) {
  let sum = 0;
  for (const w of words) {
    const at = (s, n) => (s && w.test(s) ? n : 0);
    const n = at(e.h ?? e.t, 8) + (e.h ? at(e.t, 3) : 4 * at(e.t, 1)) + at(e.x, 1);
    if (n === 0) return 0;
    sum += n;
  }
  return sum;
}
function snippet(text, words) {
  const at = Math.max(0, Math.min(...words.map((w) => text.search(w)).filter((n) => n >= 0), text.length) - 50);
  const piece = (at > 0 ? "… " : "") + text.slice(at > 0 ? text.indexOf(" ", at) + 1 : 0, at + 150);
  return escape(piece).replace(new RegExp(words.map((w) => w.source).join("|"), "giu"), (s) => `<mark>${s}</mark>`);
}
async function search() {
  const words = input.value.trim().split(/\s+/).filter(Boolean).map(pattern);
  if (words.length === 0) return show("", "");
  const index = await load();
  const hits = index.map((e) => [rate(e, words), e]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]);
  const lines = hits.slice(0, 20).map(([, e]) => `<a href="${escape(root.dataset.root + e.p + (e.i ? "#" + e.i : ""))}"><b>${escape(e.h ? `${e.t} › ${e.h}` : e.t)}</b><small>${snippet(e.x ?? "", words)}</small></a>`);
  show(lines.join("") || "<p>Nothing found.</p>", `${hits.length} found`);
}
function show(html, count) {
  found.innerHTML = html;
  found.hidden = !html;
  $("count").textContent = count;
}
input.onfocus = load;
input.oninput = search;
document.addEventListener("keydown", (e) => {
  const typing = e.target.matches("input, textarea, select");
  if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey) { e.preventDefault(); input.focus(); }
  if (e.key === "Escape") { show("", ""); menu(false); if (found.contains(e.target)) input.focus(); }
  if (found.hidden || !(e.target === input || found.contains(e.target))) return;
  const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  if (e.key === "ArrowDown") { e.preventDefault(); links[Math.min(at + 1, links.length - 1)]?.focus(); }
  if (e.key === "ArrowUp") { e.preventDefault(); (links[at - 1] ?? input).focus(); }
  if (e.key === "Enter" && e.target === input) links[0]?.click();
});
document.addEventListener("click", (e) => { if (!e.target.closest(".search")) show("", ""); });
