/** Programs as models write them: what they find, what they answer, how they are told of their mistakes. */
import { CapError, driver, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished, test } from 'vitest';
import { guestsFor, outcome, table } from '../test/guests.ts';
import { childCode, hasCodeCache } from './drivers/child-code.ts';
import { type GuestProcess, bare as processOf } from './drivers/process.ts';
import { openGuests } from './index.ts';
import { defaultLimits } from './limits.ts';
import { Pool } from './pool.ts';

interface Files {
  readText(path: string): Promise<string>;
  fail(): Promise<never>;
  never(): Promise<never>;
}
const files: Far<object> = driver<Files>({
  readText: async ([path]) => `text of ${path}`,
  fail: async () => {
    throw new Error('cannot read a secret place');
  },
  never: () => new Promise(() => {}),
});
// Tests of the language need no sandbox. `attack.test.ts` runs in one.
const bare = { isolation: 'ses-only', pool: 2 } as const;

test('a program has its caps by petname, a console, a clock, random numbers, timers and JavaScript', async () => {
  const guests = await guestsFor(bare);
  const caps = { files, 'deploy-key': files, Promise: files };
  const rows = [
    [`return await E(files).readText('a')`, '"text of a"'],
    [`return ['a', 'b'].map((name) => E(files).readText(name))`, '["text of a","text of b"]'],
    [`return { deep: [{ text: E(files).readText('c') }] }`, '{"deep":[{"text":"text of c"}]}'],
    [`return await E(caps['deploy-key']).readText('k')`, '"text of k"'],
    [`return [await E(caps.Promise).readText('p'), typeof Promise.all]`, '["text of p","function"]'],
    [`const n: number = 20; interface X { y: string }\nreturn n + 1`, '21'],
    [
      `const a = now(); await new Promise((done) => setTimeout(done, 30)); const b = now();
       return [Number.isInteger(a), b - a >= 29, random() !== random(), new Date(a).getTime() === a]`,
      '[true,true,true,true]',
    ],
    [
      `let n = 0; await new Promise((done) => { const id = setInterval(() => { n += 1; if (n === 3) { clearInterval(id); done(); } }, 1); }); return n`,
      '3',
    ],
    [`return [new URL('https://a.b/c?d=e').searchParams.get('d'), new TextEncoder().encode('é').length]`, '["e",2]'],
    [`return structuredClone({ a: [1n.toString()] })`, '{"a":["1"]}'],
    ['let undefinedIsFine; return undefinedIsFine', /^undefined$/],
  ] as const;
  expect(await table(guests, rows, { caps })).toEqual([]);
  const printed = await outcome(
    guests,
    `console.log('a', { b: [1] }); console.group('g'); console.warn('two\\nlines')`,
  );
  expect(printed.console).toBe('a { b: [ 1 ] }\ng\n  two\n  lines\n');
  // In a process that has run a program of ours while it waited: this one's errors are its own.
  const lost = `Promise.reject(new Error('lost')); await new Promise((done) => setTimeout(done, 50)); return typeof add + typeof cap`;
  const { value, console: told } = await outcome(guests, lost, { caps });
  expect([value, told]).toEqual(['undefinedundefined', expect.stringMatching(/^uncaught: line 1, .*Error: lost\n$/)]);
  expect(printed.usage.peakBytes).toBeGreaterThan(10_000_000);
}, 400_000);

test('every error names the line of the program and the remedy', async () => {
  const guests = await guestsFor(bare);
  const rows = [
    ['\n\n  process.env', /^E_PROGRAM: line 3, column \d+: TypeError.*process is not defined: .*caps/],
    [`\nrequire('fs')`, /line 2, .*modules cannot be loaded/],
    [`await fetch('https://a')`, /line 1, .*there is no network/],
    ['const a = 1;\nnew Buffer(a)', /line 2, .*use Uint8Array/],
    ['return Date.now()', /line 1, .*use now\(\)/],
    ['return Math.random()', /line 1, .*use random\(\)/],
    ['\nArray.prototype.x = 1', /line 2, .*frozen: copy it/],
    ['const f = () => f();\nf()', /line 1, .*write the recursion as a loop/],
    [`\n\nconst t = await E(files).nope('a');\nreturn t`, /line 3, .*no-such-method: /],
    [
      `try { await E(files).fail() } catch (error) { throw new Error('wrapped: ' + error.code) }`,
      /line 1, .*wrapped: error$/,
    ],
    [
      `\nawait E(files).fail()`,
      /^E_PROGRAM: line 2, column \d+: error: the call failed at its target, which gives no reason$/,
    ],
    [`\nE('files').readText('a')`, /line 2, .*give it a cap/],
    [`throw 'just text'`, /thrown: just text \(throw an Error/],
    ['throw { get message() { throw 1 } }', /E_PROGRAM: .*throw/],
    [`\n\nawait import('fs')`, /^invalid: line 3, column 7: a dynamic import/],
    ['const x = ;', /^invalid: line 1, column 11/],
    ['return () => 1', /value cannot leave.*plain data/],
    ['const a = {}; a.a = a; return a', /value cannot leave.*cyclic/],
    [`return 'x'.repeat(3_000_000)`, /value cannot leave/],
    ['for (let i = 0; i < 2000; i += 1) setTimeout(() => {}, 1e6)', /line 1, .*1000 timers wait/],
  ] as const;
  expect(await table(guests, rows, { caps: { files } })).toEqual([]);
}, 400_000);

test('invalid options are refused before anything starts', async () => {
  await expect(openGuests()).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  await expect(openGuests()).rejects.toThrowError(/spawnConfined of @hob\/caps-shell.*ses-only/);
  await expect(openGuests({ isolation: 'none' as never })).rejects.toMatchObject({ code: 'invalid' });
  await expect(openGuests({ isolation: 'ses-only', pool: -1 })).rejects.toMatchObject({ code: 'invalid' });
  await expect(openGuests({ isolation: 'ses-only', limits: { cpuMs: 0 } })).rejects.toMatchObject({ code: 'invalid' });
  const guests = await guestsFor({ ...bare, limits: { cpuMs: 1000 } });
  for (const [source, options] of [
    ['', { caps: { x: {} as never } }],
    ['', { caps: {}, limits: { cpuMs: 2000 } }],
    ['', { caps: {}, limits: { time: 1 } as never }],
    [7 as never, { caps: {} }],
  ] as const)
    await expect(guests.evaluate(source, options)).rejects.toMatchObject({ code: 'invalid' });
  await expect(guests.evaluate('x'.repeat(300_000), { caps: {} })).rejects.toMatchObject({ code: 'limit' });
  await guests.close();
  await expect(guests.evaluate('', { caps: {} })).rejects.toMatchObject({ code: 'revoked' });
}, 400_000);

test('no process runs two programs, and a program finds nothing of an earlier one', async () => {
  const guests = await guestsFor(bare);
  // Not a global of the compartment, which is new each time: what all compartments of a process would share.
  const mark = `try { Object.defineProperty(E, 'mark', { value: 1 }) } catch {} const met = caps.seen !== undefined; return [typeof E.mark, met]`;
  for (let i = 0; i < 3; i += 1) expect((await outcome(guests, mark)).value).toEqual(['undefined', false]);
}, 400_000);

test('a running program delivers its output, and can be aborted', async () => {
  const guests = await guestsFor(bare);
  const job = guests.start(`console.log('one'); await E(files).never()`, { caps: { files } });
  expect(await job.console.next()).toBe('one\n');
  await job.abort();
  await expect(job.result()).rejects.toMatchObject({ code: 'revoked', console: 'one\n' });
  expect(await job.console.next()).toBe(undefined);

  const stop = new AbortController();
  const loop = guests.start(`console.log('in'); for (;;);`, { caps: {}, signal: stop.signal });
  expect(await loop.console.next()).toBe('in\n');
  stop.abort();
  await expect(loop.result()).rejects.toMatchObject({ code: 'revoked', console: 'in\n' });
}, 400_000);

test('a cap may be a promise: the program starts when it resolves, and never if it rejects', async () => {
  const guests = await guestsFor(bare);
  const soon = Promise.withResolvers<Far<object>>();
  const program = guests.evaluate(`return await E(files).readText('a')`, { caps: { files: soon.promise } });
  soon.resolve(files);
  expect((await program).value).toBe('text of a');
  const never = new Promise<Far<object>>(() => {});
  const broken = Promise.reject(new CapError('no-such-object', 'nothing is called that'));
  broken.catch(() => {});
  const rows = [
    [broken, 'no-such-object'],
    [Promise.resolve({} as Far<object>), 'invalid'],
  ] as const;
  for (const [cap, code] of rows) expect(await outcome(guests, 'return 1', { caps: { cap } })).toMatchObject({ code });
  const stop = new AbortController();
  const waits = outcome(guests, 'return 1', { caps: { never }, signal: stop.signal });
  stop.abort();
  expect(await waits).toMatchObject({ code: 'revoked' });
}, 400_000);

test('later processes run the compiled code of the first one, and no code contains a path', async () => {
  const guests = await guestsFor(bare);
  while (!hasCodeCache()) await new Promise((done) => setTimeout(done, 10));
  expect((await outcome(guests, 'return 1 + 1')).value).toBe(2);
  const one = await processOf(defaultLimits);
  onTestFinished(() => one.kill());
  const said = await new Promise((done) => one.channel.once('message', done));
  expect(said).toEqual({ ready: true, fromCache: true });
  const code = Buffer.from(childCode()).toString('latin1');
  for (const path of [process.cwd(), import.meta.dirname, process.execPath]) expect(code.includes(path)).toBe(false);
}, 400_000);

test('the pool keeps as many idle processes as were wanted at once, and one after a minute without requests', async () => {
  const clock = testClock();
  const made: GuestProcess[] = [];
  const start = async (): Promise<GuestProcess> => {
    const one = await processOf(defaultLimits);
    made.push(one);
    return one;
  };
  const pool = new Pool(start, 2, clock);
  onTestFinished(() => pool.close());
  await pool.open();
  expect(pool.counts).toEqual({ all: 1, waiting: 1 });
  const taken = await Promise.all([pool.take(), pool.take()]);
  for (const { started } of taken) started.kill();
  const settled = async (waiting: number): Promise<void> => {
    while (pool.counts.waiting !== waiting || pool.counts.all !== waiting)
      await new Promise((done) => setTimeout(done, 10));
  };
  await settled(2);
  await clock.advance(30_000);
  (await pool.take()).started.kill();
  await settled(2);
  await clock.advance(59_000);
  expect(pool.counts.waiting).toBe(2);
  await clock.advance(2_000);
  expect(pool.counts.waiting).toBe(1);
  await settled(1);
  await pool.close();
  expect(pool.counts.all).toBe(0);
}, 400_000);
