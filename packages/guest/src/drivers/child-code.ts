/**
 * The code that runs in a guest's process: one script without types, and V8's compiled form of it.
 *
 * Promise: a guest's process reads no file of this machine. Its code comes over its channel and contains no
 * path. The files are read once for all guests.
 */
import fs from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { joined } from '../code/join.ts';

/**
 * Reads the script and its compiled form from the channel.
 *
 * Node's own reader of the channel takes three times as long, because it parses JSON. It starts after the code
 * of `node -e` has run, so it finds only messages.
 */
export const reading: string = `
  const { readSync } = require('node:fs');
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  const some = (bytes, at) => {
    for (;;)
      try {
        return readSync(3, bytes, at, bytes.length - at);
      } catch (error) {
        if (error.code !== 'EAGAIN') process.exit(1);
        Atomics.wait(asleep, 0, 0, 0.1);
      }
  };
  const read = (length) => {
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let at = 0, got = 0; at < length; at += got) if ((got = some(bytes, at)) === 0) process.exit(1);
    return bytes;
  };
  const lengths = read(8);
  const text = read(lengths.readUInt32LE(0)).latin1Slice();
  const cachedData = read(lengths.readUInt32LE(4));`;

/** The code that `node -e` starts with. */
export const boot: string = `{${reading}
  const { Script } = require('node:vm');
  const script = new Script(text, { filename: 'hob:guest', ...(cachedData.length > 0 && { cachedData }) });
  const codeCache = () => script.createCachedData();
  script.runInThisContext()(require, codeCache, script.cachedDataRejected === false);
}`;

let script: Buffer | undefined;
let cache: Uint8Array = new Uint8Array();
let sent: Uint8Array | undefined;

/** The bytes that `boot` reads: both lengths, the script, and its compiled form if there is one. */
export function childCode(): Uint8Array {
  if (sent !== undefined) return sent;
  script ??= Buffer.from(read(), 'latin1');
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(script.length, 0);
  lengths.writeUInt32LE(cache.length, 4);
  sent = Buffer.concat([lengths, script, cache]);
  return sent;
}

/** Whether new processes get the compiled form. */
export const hasCodeCache = (): boolean => cache.length > 0;

/**
 * Gives the compiled form to all later processes. They run it before `lockdown()`, so it must come from a
 * process that never had a program of a model.
 */
export function keepCodeCache(compiled: string): void {
  cache = Buffer.from(compiled, 'base64');
  sent = undefined;
}

function read(): string {
  // Packing would join lockdown into the module `child`, which runs after all its other imports. So it is an entry.
  const entries = [new URL('./child-lockdown.ts', import.meta.url), new URL('./child.ts', import.meta.url)];
  return joined(
    entries.map((entry) => fileURLToPath(entry)),
    { textOf, resolve, parameters: ['require', 'codeCache', 'fromCache'] },
  );
}

function resolve(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return join(from, '..', specifier);
  // `@hob/vat` takes longer to load than everything else. A guest's process needs only its `peer` entry
  // point.
  const wanted = specifier === '@hob/vat' ? '@hob/vat/peer' : specifier;
  const found = createRequire(from).resolve(wanted);
  // `require` found the CommonJS file. The module file is next to it, or the same file is used (ses).
  const forImport = found.replace(/\.js$/, '.mjs');
  return fs.existsSync(forImport) ? forImport : found;
}

function textOf(file: string): string {
  const text = fs.readFileSync(file, 'utf8');
  return file.endsWith('.ts') ? quietly(() => stripTypeScriptTypes(text)) : text;
}

/** Silences Node's warning that stripping types is experimental. */
function quietly<T>(act: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}
