// The page: filters, then what they show; the player; the download.

const find = (selector) => document.querySelector(selector);

function showTraversals() {
  if (!TRAVERSALS || !TRAVERSALS.length) return;
  const select = find("#traversal select"), place = find("#traversal .players");
  const made = new Map();
  const show = () => {
    const n = +select.value;
    for (const player of made.values()) player.hidden = true;
    if (!made.has(n)) {
      const player = element("div");
      place.append(player);
      made.set(n, player);
      traversalPlayer(player, TRAVERSALS[n]);
    }
    made.get(n).hidden = false;
    window.dispatchEvent(new Event("resize")); // one that was hidden has no width to draw in
  };
  TRAVERSALS.forEach((t, n) => select.append(element("option", t.title, { value: n })));
  select.value = TRAVERSALS.length - 1;
  select.addEventListener("change", show);
  show();
}

// rawRows unpacks the rows; a browser that cannot gives them packed.
async function rawRows() {
  const holder = find("#rows"), packed = new Blob([Uint8Array.from(atob(holder.textContent.trim()), (c) => c.charCodeAt(0))]);
  if (!window.DecompressionStream) return { name: holder.dataset.name + ".gz", blob: packed };
  const text = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  return { name: holder.dataset.name, blob: new Blob([text], { type: "text/csv" }) };
}

async function download() {
  const { name, blob } = await rawRows();
  const link = element("a", null, { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

function main() {
  const rate = new Panels(find("#rate .panels")), roofline = new Panels(find("#roofline .panels"));
  const update = () => {
    readTheme();
    document.querySelectorAll("i[data-kernel]").forEach((dot) => { dot.style.background = DATA.kernels[dot.dataset.kernel].colour; });
    const points = shown();
    rate.show(rateGroups(points));
    roofline.show(rooflineGroups(points));
    showTable(find("#ladder .tables"), points, MOST_ROWS);
  };
  buildFilters(find("#filters"), update);
  update();
  DARK.addEventListener("change", update);
  let pending = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(pending);
    pending = requestAnimationFrame(() => { rate.resize(); roofline.resize(); });
  });
  find("#download").addEventListener("click", download);
  showTraversals();
}
main();
