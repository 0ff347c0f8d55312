/** Powers enter at the listed driver files and nowhere else. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DRIVERS, isDriverPlace, powersOf } from './powers.ts';
import { filesIn, isTest, isTypeScript, ROOT, read } from './sources.ts';

const sources = filesIn('packages').filter((file) => isTypeScript(file) && /\/src\//.test(file) && !isTest(file));

test('no file uses a power that the list does not give it', () => {
  const faults = sources.flatMap((file) => {
    const granted = DRIVERS[file]?.powers ?? [];
    const extra = powersOf(read(file).text).filter((power) => !granted.includes(power));
    return extra.length === 0 ? [] : [`${file} uses ${extra.join(', ')}`];
  });
  expect(faults, 'move it behind a driver, or list it in test/powers.ts').toEqual([]);
});

test('every entry of the list is a driver file that is there, with a reason, and needs each of its powers', () => {
  const faults = Object.entries(DRIVERS).flatMap(([file, { powers, why }]) => {
    if (!existsSync(join(ROOT, file))) return [`${file} does not exist`];
    if (!isDriverPlace(file)) return [`${file} is not where drivers are`];
    if (why.trim().length < 10 || powers.length === 0) return [`${file} has no reason, or no power`];
    const used = powersOf(read(file).text);
    const unused = powers.filter((power) => !used.includes(power));
    return unused.length === 0 ? [] : [`${file} no longer uses ${unused.join(', ')}`];
  });
  expect(faults).toEqual([]);
});

test('the checker sees every way to a power', () => {
  const samples: [string, string[]][] = [
    ["import { readFile } from 'node:fs/promises';", ['node:fs/promises']],
    ["import fs from 'fs';", ['fs']],
    ["import { randomBytes } from 'node:crypto';", ['node:crypto']],
    ["import { WebSocket } from 'ws';", ['WebSocket', 'ws']],
    ["export { spawn } from 'node:child_process';", ['node:child_process']],
    ["const fs = await import('node:fs');", ['node:fs']],
    ['const fs = await import(name);', ['import(computed)']],
    ["import left from 'left-pad';", ['left-pad']],
    ["import { type Socket } from 'node:net';", ['node:net']],
    ['const at = Date.now();', ['Date']],
    ['const at = new Date();', ['Date']],
    ['const at = Date ();', ['Date']],
    ['const x = Math.random();', ['Math.random']],
    ['setTimeout(f, 1);', ['setTimeout']],
    ['const s = { ...process.env };', ['process']],
    ['f(process.env);', ['process']],
    ['const { env } = process;', ['process']],
    ['const clock = { now: performance.now };', ['performance']],
    ['const clock = { performance };', ['performance']],
    ['globalThis.process.exit();', ['process']],
    ['globalThis?.fetch(x);', ['fetch']],
    ["globalThis['pro' + 'cess'];", ['globalThis[…]']],
    ['`${fetch(x)}`;', ['fetch']],
    ['ok ? fetch(x) : y;', ['fetch']],
    ['if (a) {\n  fetch(x);\n}', ['fetch']],
    ["new Function('return process')();", ['Function']],
    ["eval('1');", ['eval']],
    ['console.log(1);', ['console']],
    ['crypto.getRandomValues(a);', ['crypto']],
    ['AbortSignal.timeout(5);', ['AbortSignal.timeout']],
    ['interface A {\n  x: number;\n}\nexit(process.pid);', ['process']],
    ['const here = import.meta.dirname;', ['import.meta']],
  ];
  for (const [source, powers] of samples) expect(powersOf(source), source).toEqual(powers);
});

test('the checker lets pass what reaches nothing', () => {
  const samples = [
    "import { types } from 'node:util'; import { posix } from 'node:path';",
    "import type { Socket } from 'node:net';",
    "import { E } from '@endo/far'; import { Far } from '@hob/vat'; import { x } from './x.ts';",
    '// process.exit(), Date.now()',
    "const text = 'fetch(process.env)';",
    'clock.setTimeout(f, 1); this.process.stop(); a?.fetch(b);',
    'interface Net {\n  fetch(url: string): Promise<string>;\n  process?: number;\n}',
    'const net = { fetch: g, async fetch(x) { return x; } };',
    'const processed = 1; const reprocess = 2; const $fetch = 3;',
    'const ms = Date.parse(text); type T = Date;',
    'class A { #process = 1; }',
  ];
  for (const source of samples) expect(powersOf(source), source).toEqual([]);
});
