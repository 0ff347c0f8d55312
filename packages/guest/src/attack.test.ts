/** Hostile programs, in the sandbox, beside one that is not: the host and the other go on. */
import { homedir, hostname, userInfo } from 'node:os';
import { spawnConfined } from '@hob/caps-shell';
import { revocable } from '@hob/revocable';
import { driver, E, openVats } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { guestsFor, outcome, table } from '../test/guests.ts';

const test = requires('linux', 'cc', 'userns');

const MiB = 2 ** 20;
const memory = /^limit: the program was stopped: its memory is limited to 128 MiB/;
const cpu = /^limit: the program was stopped: its processor time is limited to 400 ms/;
const output = /^limit: the program was stopped: its output is limited to 65536 bytes/;
const outOfMemory = /^limit: the program was stopped: its memory|^E_PROGRAM: .*RangeError|^limit: the process/;

const bombs = [
  ['const a = []; for (;;) a.push({ x: [1, 2, 3] })', memory],
  ['const a = new Map(); for (let i = 0; ; i += 1) a.set(i, { i })', memory],
  ['const a = new Set(); for (let i = 0; ; i += 1) a.add([i])', memory],
  [
    `let a = 'x'; const all = []; for (;;) { a = (a + random()).slice(-100_000).split('').join('-'); all.push(a); }`,
    memory,
  ],
  ['const a = {}; for (let i = 0; ; i += 1) a["key" + i] = { i }', memory],
  ['return new Array(2 ** 27).fill(0).map((_, i) => [i]).length', outOfMemory],
  ['const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', outOfMemory],
  ['const a = []; for (;;) { a.push(new BigUint64Array(1e7).fill(5n)); await null }', outOfMemory],
] as const;

const loops = [
  ['for (;;);', cpu],
  ['const f = async () => { for (;;) await null }; await f()', cpu],
  [`/^(a+)+$/.test('a'.repeat(40) + 'b')`, cpu],
  ['let a = 3n; for (;;) a = a ** 3n % (2n ** 200000n)', cpu],
  [
    'const a = {}; let b = a; for (let i = 0; i < 2000; i += 1) b = b.a = {}; for (;;) JSON.parse(JSON.stringify(a))',
    cpu,
  ],
  ['for (;;) Array.from({ length: 1e4 }, random).sort((a, b) => a - b)', cpu],
  ['const f = () => queueMicrotask(f); f(); await new Promise(() => {})', cpu],
  [
    'const f = () => setTimeout(() => { const t = now(); while (now() - t < 50); f() }, 0); f(); await new Promise(() => {})',
    cpu,
  ],
] as const;

const floods = [
  [`for (;;) console.log('x'.repeat(10_000))`, output],
  [`for (;;) { console.error({ a: 'x'.repeat(1000) }); await null }`, output],
  [`console.log('x'.repeat(10_000_000))`, output],
] as const;

test('memory bombs, loops and floods end only their own program; the host and other programs go on', async () => {
  const guests = await guestsFor({ spawnConfined, pool: 2 });
  let ticks = 0;
  const tick = driver<{ tick(): Promise<number> }>({
    tick: async () => {
      ticks += 1;
      return ticks;
    },
  });
  const stop = new AbortController();
  const beside = guests.start('for (;;) { await E(tick).tick(); await new Promise((done) => setTimeout(done, 20)); }', {
    caps: { tick },
    signal: stop.signal,
    limits: { cpuMs: 10_000 },
  });
  const rows = [...bombs, ...loops, ...floods];
  const rest = rows.splice(0);
  while (rest.length > 0) {
    const before = ticks;
    // Six at a time: what they take is the machine's.
    const limits = { memoryBytes: 128 * MiB, outputBytes: 65_536 };
    const some = rest.splice(0, 6);
    const isLoop = ([, pattern]: (typeof some)[number]) => pattern === cpu;
    const [bombed, looped] = await Promise.all([
      table(
        guests,
        some.filter((row) => !isLoop(row)),
        { limits: { ...limits, cpuMs: 10_000 } },
      ),
      table(guests, some.filter(isLoop), { limits: { outputBytes: 65_536, cpuMs: 400 } }),
    ]);
    expect([...bombed, ...looped]).toEqual([]);
    expect(ticks).toBeGreaterThan(before);
  }
  stop.abort();
  await expect(beside.result()).rejects.toMatchObject({ code: 'revoked' });
}, 240_000);

test('a program that waits for a human uses no processor time, and ends with its wall time', async () => {
  const guests = await guestsFor({ spawnConfined, pool: 1 });
  const gate = driver<{ pass(): Promise<string>; never(): Promise<string> }>({
    pass: () => new Promise((resolve) => setTimeout(() => resolve('passed'), 1500)),
    never: () => new Promise(() => {}),
  });
  const limits = { cpuMs: 500 };
  const waits = guests.evaluate('const a = now(); const said = await E(gate).pass(); return [said, now() - a]', {
    caps: { gate },
    limits,
  });
  const { value, usage } = await waits;
  expect(value).toEqual(['passed', expect.any(Number)]);
  expect((value as [string, number])[1]).toBeGreaterThan(1000);
  expect(usage.cpuMs).toBeLessThan(500);
  // If the limit does not end the wait, this does, and the test fails instead of hanging.
  const stop = new AbortController();
  const after = setTimeout(() => stop.abort(), 30_000);
  const late = await outcome(guests, 'await E(gate).never()', {
    caps: { gate },
    limits: { wallMs: 200 },
    signal: stop.signal,
  });
  clearTimeout(after);
  expect(late).toMatchObject({ code: 'limit', message: expect.stringMatching(/its time is limited to 200 ms/) });
}, 400_000);

/** Every global of Node that is not one of the language. */
const globals = Object.getOwnPropertyNames(globalThis).filter((name) => /^[\w$]+$/.test(name));
const offered = new Set(
  `E caps console now random setTimeout setInterval clearTimeout clearInterval structuredClone queueMicrotask URL URLSearchParams
   TextEncoder TextDecoder globalThis harden lockdown Compartment`.split(/\s+/),
);

test('a program finds nothing of Node, shared objects are frozen, and it cannot escape', async () => {
  const guests = await guestsFor({ spawnConfined, pool: 2 });
  const found = await outcome(
    guests,
    `const names = ${JSON.stringify([...globals, 'require', 'module', '__dirname', '__filename', 'arguments'])};
     return names.filter((name) => name in globalThis);`,
  );
  const language = new Set(Object.getOwnPropertyNames(new Compartment().globalThis));
  expect((found.value as string[]).filter((name) => !language.has(name) && !offered.has(name))).toEqual([]);

  const rows = [
    // To the constructor of functions, of each kind.
    [`return [].map.constructor('return process')()`, /not a valid constructor/],
    [`return (async () => {}).constructor('return process')()`, /not a valid constructor/],
    [`return (function* () {}).constructor('return process')().next()`, /not a valid constructor/],
    [`return E.constructor.constructor('return process')()`, /not a valid constructor/],
    [`return console.log.constructor('return this')()`, /not a valid constructor/],
    [`return new Function('return typeof process')()`, '"undefined"'],
    [
      `const g = new Compartment().globalThis; return [typeof g.process, typeof g.console]`,
      '["undefined","undefined"]',
    ],
    // By what it was handed.
    [
      `return Reflect.ownKeys(URL).concat(Reflect.ownKeys(URL.prototype)).filter((key) => /object|inspect/i.test(String(key))).length`,
      '0',
    ],
    [
      `let got; console.log({ [Symbol.for('nodejs.util.inspect.custom')](...args) { got = args.length; return '' } }); return typeof got`,
      '"undefined"',
    ],
    [`return typeof setTimeout(() => {}, 1)`, '"number"'],
    [`try { null.x } catch (error) { return /hob:|node:|\\/home|\\/tmp|\\/work|\\/opt/.test(error.message) }`, 'false'],
    // Objects that others in the process use are frozen for everybody.
    ...[
      'Object',
      'Array',
      'Promise',
      'Map',
      'Function',
      'RegExp',
      'Uint8Array',
      'URL',
      'Error',
      'JSON',
      'Reflect',
      'Symbol',
    ].map(
      (name) =>
        [
          `return [Object.isFrozen(${name}), ${name}.prototype === undefined || Object.isFrozen(${name}.prototype)]`,
          '[true,true]',
        ] as const,
    ),
    ...['E', 'console', 'caps', 'now', 'setTimeout', 'structuredClone'].map(
      (name) => [`return Object.isFrozen(${name})`, 'true'] as const,
    ),
    [`Object.prototype.then = (f) => f('polluted')`, /frozen|not extensible/],
    [`Promise.prototype.then = () => 1`, /Cannot assign to read only/],
    [`Array.prototype[Symbol.iterator] = function* () {}; `, /Cannot assign to read only/],
    [`({}).__proto__.toJSON = () => 'x'`, /not extensible|Cannot/],
    [`Object.defineProperty(Error, 'prepareStackTrace', { value: (_, s) => s }); return 1`, /Cannot|1/],
    // No finer clock than a millisecond, nothing that counts beside.
    [
      `return [typeof SharedArrayBuffer, typeof Atomics, typeof performance, typeof Worker, typeof WebAssembly]`,
      '["undefined","undefined","undefined","undefined","undefined"]',
    ],
    [`const t = new Set(); for (let i = 0; i < 1000; i += 1) t.add(now() % 1); return [...t]`, '[0]'],
  ] as const;
  expect(await table(guests, rows)).toEqual([]);
}, 400_000);

test('results and errors contain nothing of this machine', async () => {
  const guests = await guestsFor({ spawnConfined, pool: 1 });
  const trap = driver<{ fail(): Promise<never> }>({
    fail: async () => {
      throw new Error(`ENOENT ${homedir()}/.ssh ${process.cwd()} ${hostname()}`);
    },
  });
  const source = `const seen = [];
    const look = (error) => seen.push(String(error), String(error.stack), String(error.message), String(error.cause), JSON.stringify(Object.getOwnPropertyDescriptors(error)));
    for (const act of [() => null.x, () => E(trap).fail(), () => E(trap).nope(), () => { const f = () => f(); f() }, () => new Array(-1), () => new URL('::'), () => setTimeout(1), () => structuredClone(() => 1), () => E(1)])
      try { await act() } catch (error) { look(error) }
    console.log(new Error('x'), { e: new Error('y') }, E(trap), trap, [E(trap).fail()]);
    await null;
    return seen.join('\\n')`;
  const { value, console: printed } = await outcome(guests, source, { caps: { trap } });
  expect(String(value).length).toBeGreaterThan(200);
  const said = `${value}\n${printed}`;
  for (const secret of [
    homedir(),
    process.cwd(),
    process.execPath,
    hostname(),
    import.meta.dirname,
    '.ssh',
    'node_modules',
    '/opt/',
    String(process.pid),
  ])
    if (secret.length > 2 && secret !== userInfo().username) expect(said).not.toContain(secret);
}, 400_000);

test('a cap that a program kept ends when it is revoked; thenables and ten thousand open calls do not harm the host', async () => {
  const guests = await guestsFor({ spawnConfined, pool: 2 });
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const { cap, revoker } = revocable(driver<{ use(): Promise<string> }>({ use: async () => 'used' }), { for: 60_000 });
  const kept = guests.start(
    `const use = async () => { try { return await E(cap).use() } catch (error) { return error.code } };
     const said = [await use()]; console.log(said[0]); while (said.at(-1) === 'used') said[1] = await use(); return said`,
    { caps: { cap } },
  );
  expect(await kept.console.next()).toBe('used\n');
  await E(revoker).revoke('enough');
  expect((await kept.result()).value).toEqual(['used', 'revoked']);

  const calls = driver<{ echo(x: unknown): Promise<unknown>; never(): Promise<never>; count(): Promise<number> }>({
    echo: async ([x]) => x,
    never: () => new Promise(() => {}),
    count: async () => 7,
  });
  const many = await outcome(
    guests,
    `const open = []; for (let i = 0; i < 10_000; i += 1) { open.push(E(calls).never()); if (i % 500 === 0) await E(calls).count(); }
     return [open.length, await E(calls).count()]`,
    { caps: { calls }, limits: { cpuMs: 9_000 } },
  );
  expect(many.value).toEqual([10_000, 7]);
  const rows = [
    [`return { then: 1 }`, '{"then":1}'],
    [`return { deep: { then: 'x', catch: 1 } }`, '{"deep":{"then":"x","catch":1}}'],
    [`return { a: { then(done) { done('its own') } } }`, '{"a":"its own"}'],
    [`return (await E(calls).echo({ then: 5, toString: 1, __proto__: null })).then`, '5'],
    [`return await E(calls).echo({ then: () => 1 })`, /invalid/],
    [`return await E(calls).then(1)`, /not a function/],
    [`return await E(calls).constructor('return process')`, /not a function|no-such-method/],
    [`return await E(calls)['__proto__']()`, /not a function|no-such-method/],
    [`let n = 0; const x = { get count() { n += 1; return n } }; return await E(calls).echo(x)`, /invalid/],
    [`return await E(calls).echo(new Proxy({}, {}))`, /invalid/],
  ] as const;
  expect(await table(guests, rows, { caps: { calls } })).toEqual([]);
  // The host is whole.
  expect(await E(calls).count()).toBe(7);
}, 400_000);
