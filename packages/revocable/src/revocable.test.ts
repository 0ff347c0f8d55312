/** Grants, attacked by their holders. */
import {
  CapError,
  type Definition,
  define,
  driver,
  E,
  exportLedger,
  type Far,
  isReference,
  openStore,
  openVats,
  type Store,
  spawn,
  type Vat,
  type Vats,
  verifyLedger,
} from '@hob/vat';
import { ledgerArguments } from '@hob/vat/store';
import { type TestClock, testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Forwarded, grantOf, revocable, type Terms } from './index.ts';

interface Box {
  read(): string;
  fail(): never;
  open(name: string): Box;
  deep(): unknown;
  slow(): Promise<string>;
  give(what: object): unknown;
}
const Box: Definition<Box, [text: string]> = define('Box', (bcom, text) => ({
  read: () => text,
  fail: (): never => {
    throw new CapError('NOT_FOUND', 'there is no such file');
  },
  open: (name) => spawn(Box(`${text}/${name}`)),
  deep: () => ({ list: [{ inner: spawn(Box('inner')) }], self: bcom.self }),
  slow: (): never => {
    throw new CapError('no-such-method', 'only the driver is slow');
  },
  give: (what) => what,
}));

let clock: TestClock;
let store: Store;
let vats: Vats;
let vat: Vat;
let box: Far<Box>;
beforeEach(async () => {
  clock = testClock();
  store = await openStore({ memory: true });
  vats = await openVats({ store, clock });
  vat = vats.vat('grants');
  box = await vats.vat('boxes').spawn(Box('box'));
});
afterEach(async () => {
  await vats.close();
  await store.close();
});

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );
async function lines(kind?: string): Promise<readonly Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for await (const line of exportLedger(store)) {
    const { v: _, seq: __, t: ___, vt: ____, prev: _____, crc: ______, ...rest } = JSON.parse(line);
    if (kind === undefined ? rest.k !== 'genesis' : rest.k === kind) all.push(rest);
  }
  return all;
}
/** Every value that can be reached from `root` without sending a message. */
function reachable(root: unknown): Set<unknown> {
  const found = new Set<unknown>();
  const left = [root];
  while (left.length > 0) {
    const at = left.pop();
    if ((typeof at !== 'object' && typeof at !== 'function') || at === null || found.has(at)) continue;
    found.add(at);
    left.push(Object.getPrototypeOf(at));
    for (const key of Reflect.ownKeys(at)) {
      const own = Object.getOwnPropertyDescriptor(at, key);
      left.push(own?.value, own?.get, own?.set);
    }
  }
  return found;
}
/** The same for a driver that returns when told to, and records its calls. */
function slowBox(): {
  cap: Far<Box>;
  calls: { signal: AbortSignal; answer(text: string): void; cause: readonly string[] }[];
} {
  const calls: { signal: AbortSignal; answer(text: string): void; cause: readonly string[] }[] = [];
  const cap = driver<Pick<Box, 'slow' | 'read'>>({
    read: () => 'read',
    slow: (_args, { signal, cause }) =>
      new Promise<string>((answer) => {
        void signal.aborted; // made here: a driver that looks
        calls.push({ signal, answer, cause });
      }),
  });
  return { cap: cap as unknown as Far<Box>, calls };
}
const jobs = async (count = 20): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

// ---- two objects -----------------------------------------------------------------------------------------------------------

test('the holder has no way to the revoker or the object behind: not by property, prototype, error or method', async () => {
  const { cap, revoker } = revocable(box, {});
  const [settledCap, settledRevoker] = await vat.turn(() => {
    const made = grantOf(box, {}, 'near');
    return [made.cap, made.revoker] as never[];
  }) as unknown as [object, object]; // biome-ignore format: one cast
  const error = await E(cap).fail().catch((caught: unknown) => caught); // biome-ignore format: one line
  const found = new Set([...reachable(cap), ...reachable(settledCap), ...reachable(error)]);
  for (const forbidden of [revoker, settledRevoker, box]) expect(found.has(forbidden)).toBe(false);
  expect([...found].filter((each) => each !== cap && each !== settledCap && isReference(each))).toEqual([]);
  for (const method of ['revoke', 'expire', 'callNear', 'passResult', 'look', 'reveal', 'actor', 'inner'])
    expect(await code((E(cap) as unknown as Record<string, () => Promise<unknown>>)[method]?.() as Promise<unknown>)).toBe('no-such-method'); // biome-ignore format: one line
});

test('what the cap returns is never the unwrapped object behind it', async () => {
  const { cap, revoker } = revocable(box, {});
  const self = ((await E(cap).deep()) as { self: Far<Box> }).self;
  expect(self).not.toBe(box);
  await E(revoker).revoke();
  expect(await code(E(self).read())).toBe('revoked');
});

test('the revoker is no way to the cap', async () => {
  const { revoker } = revocable(box, {});
  for (const method of ['read', 'open', 'cap', 'inner'])
    expect(await code((E(revoker) as unknown as Record<string, () => Promise<unknown>>)[method]?.() as Promise<unknown>)).toBe('no-such-method'); // biome-ignore format: one line
});

// ---- revoking --------------------------------------------------------------------------------------------------------------

test('revoking a directory revokes what came out of it, however deep', async () => {
  const { cap, revoker } = revocable(box, {});
  const sub = await E(cap).open('a');
  const deeper = await E(sub as Far<Box>).open('b');
  const { list } = (await E(cap).deep()) as { list: readonly { inner: Far<Box> }[] };
  const inner = list[0]?.inner as Far<Box>;
  expect(await E(deeper as Far<Box>).read()).toBe('box/a/b');
  await E(revoker).revoke('enough');
  for (const each of [cap, sub, deeper, inner]) expect(await code(E(each as Far<Box>).read())).toBe('revoked');
});

test('a revocation is final: a second one changes nothing and writes no line', async () => {
  const { cap, revoker } = revocable(box, {});
  await E(revoker).revoke('enough');
  await E(revoker).revoke('again');
  expect(await code(E(cap).read())).toBe('revoked');
  expect((await lines('revoke')).map(({ why }) => why)).toEqual(['enough']);
});

test('revoked in flight: the driver’s signal aborts, the caller is told at once, a late result is dropped', async () => {
  const { cap: slow, calls } = slowBox();
  const { cap, revoker } = revocable(slow, {});
  const answer = E(cap).slow();
  await jobs();
  const [call] = calls;
  expect(call?.signal.aborted).toBe(false);
  let revoked = false;
  const done = E(revoker).revoke().then(() => (revoked = true)); // biome-ignore format: one line
  expect(await code(answer)).toBe('revoked');
  expect(call?.signal.aborted).toBe(true);
  await jobs();
  expect(revoked).toBe(false); // the driver has not confirmed yet
  let again = false;
  const second = E(revoker).revoke().then(() => (again = true)); // biome-ignore format: one line
  await jobs();
  expect(again).toBe(false);
  call?.answer('too late');
  await Promise.all([done, second]);
  expect((await lines('result')).map((line) => line['code'])).toEqual(['revoked']);
});

test('a late result of an object that cannot be aborted is not passed on', async () => {
  const later = Promise.withResolvers<string>();
  const Waiter = define<{ wait(): Promise<string> }, []>('Waiter', () => ({
    wait: () => E(gate as unknown as { open(): Promise<string> }).open(),
  }));
  const gate = driver<{ open(): string }>({ open: () => later.promise });
  const waiter = await vats.vat('boxes').spawn(Waiter());
  const { cap, revoker } = revocable(waiter as Far<{ wait(): Promise<string> }>, {});
  const answer = E(cap).wait();
  await jobs();
  const revoked = E(revoker).revoke();
  later.resolve('secret');
  expect(await code(answer)).toBe('revoked');
  await revoked;
});

test('two grants of one object end independently', async () => {
  const first = revocable(box, {});
  const second = revocable(box, {});
  await E(first.revoker).revoke();
  expect(await code(E(first.cap).read())).toBe('revoked');
  expect(await E(second.cap).read()).toBe('box');
});

test('a grant of a grant ends with either', async () => {
  const outer = revocable(box, {});
  const inner = revocable(outer.cap, { uses: 5 });
  expect(await E(inner.cap).read()).toBe('box');
  await E(outer.revoker).revoke();
  expect(await code(E(inner.cap).read())).toBe('revoked');
});

// ---- counting --------------------------------------------------------------------------------------------------------------

test('two callers on the last use: exactly one passes', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { cap } = revocable(box, { uses: 1 });
    const codes = await Promise.all([code(E(cap).read()), code(E(cap).read())]);
    expect(codes.sort()).toEqual(['exhausted', 'ok']);
  }
});

test('64 callers on one grant of 100 uses spend 100, not 101', async () => {
  const { cap } = revocable(box, { uses: 100 });
  const codes = (
    await Promise.all(Array.from({ length: 64 }, () => Promise.all([1, 2, 3].map(() => code(E(cap).read())))))
  ).flat();
  expect(codes.filter((each) => each === 'ok')).toHaveLength(100);
  expect(codes.filter((each) => each === 'exhausted')).toHaveLength(92);
  const uses = (await lines('call')).map(({ use }) => use);
  expect(uses).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

test('a use is spent although the object behind throws', async () => {
  const { cap } = revocable(box, { uses: 2 });
  expect(await code(E(cap).fail())).toBe('NOT_FOUND');
  expect(await code((E(cap) as unknown as { nothing(): Promise<unknown> }).nothing())).toBe('no-such-method');
  expect(await code(E(cap).read())).toBe('exhausted');
});

test('calls on what came out of a counted grant spend the same uses', async () => {
  const { cap } = revocable(box, { uses: 2 });
  const sub = (await E(cap).open('a')) as Far<Box>;
  expect(await E(sub).read()).toBe('box/a');
  expect(await code(E(sub).read())).toBe('exhausted');
  expect(await code(E(cap).read())).toBe('exhausted');
});

test('a counted cap cannot be called near: the caller could undo the charge and keep the result', async () => {
  const { cap } = revocable(box, { uses: 1 });
  const near = await vat.turn(() => {
    const made = grantOf(box, { uses: 1 }, 'near');
    return made.cap;
  }) as unknown as Box; // biome-ignore format: one cast
  await E(cap as Far<Box>).read();
  for (const each of [cap as unknown as Box, near]) {
    expect(await code(vat.turn(() => each.read()))).toBe('not-callable');
    const Thief = define<{ steal(victim: Box): unknown }, []>('Thief', () => ({ steal: (victim) => victim.read() }));
    const thief = await vat.spawn(Thief());
    expect(await code(E(thief as Far<{ steal(victim: Box): unknown }>).steal(each))).toBe('not-callable');
  }
  expect(await code(E(near as unknown as Far<Box>).read())).toBe('ok');
});

test('a turn that is undone has sent and spent nothing', async () => {
  const near = (await vat.turn(() => grantOf(box, { uses: 1 }, 'near').cap)) as unknown as Box;
  expect(
    await code(
      vat.turn(() => {
        E(near).read();
        throw new CapError('invalid', 'changed my mind');
      }),
    ),
  ).toBe('invalid');
  expect(await code(E(near as unknown as Far<Box>).read())).toBe('ok');
});

// ---- time ------------------------------------------------------------------------------------------------------------------

test('every grant ends: without for and until after 15 minutes', async () => {
  const { cap } = revocable(box, {});
  await E(cap).read();
  clock.advance(15 * 60_000 - 1);
  expect(await code(E(cap).read())).toBe('ok');
  clock.advance(1);
  expect(await code(E(cap).read())).toBe('expired');
});

test('a result of a call made in time may arrive within the grace, and not later', async () => {
  const { cap: slow, calls } = slowBox();
  const { cap } = revocable(slow, { for: 1000 });
  const [intime, late] = [E(cap).slow(), E(cap).slow()];
  await jobs();
  clock.advance(1050);
  calls[0]?.answer('in time');
  expect(await intime).toBe('in time');
  clock.advance(100);
  calls[1]?.answer('late');
  expect(await code(late)).toBe('expired');
});

test('terms that are not understood make no grant, in a turn and outside', async () => {
  for (const terms of [{ for: 1, until: 1 }, { use: 1 }, { for: 91 * 24 * 3_600_000 }, { uses: 0 }] as Terms[]) {
    expect(await code(vat.turn(() => grantOf(box, terms, 'x') && undefined))).toBe('invalid');
    const made = await Promise.resolve()
      .then(() => revocable(box, terms))
      .catch((error: CapError) => error);
    if (made instanceof CapError) expect(made.code).toBe('invalid');
    else expect(await code(E((made as Forwarded<Box>).cap).read())).toBe('invalid');
  }
  expect(await lines('grant')).toEqual([]);
});

// ---- the ledger ------------------------------------------------------------------------------------------------------------

test('the ledger has the grant, calls with their use, failed results, refusals, revocation and expiry', async () => {
  const made = (await vat.turn(() => {
    const { cap, revoker } = grantOf(box, { uses: 3, for: 1000 }, 'g1');
    return [cap, revoker] as never[];
  })) as unknown as [Far<Box>, Far<{ revoke(why?: string): Promise<void> }>];
  const [cap, revoker] = made;
  await E(cap).read();
  await code(E(cap).fail());
  await E(cap).open('a');
  await code(E(cap).read());
  await E(revoker).revoke('owner: enough');
  await code(E(cap).read());
  const other = revocable(box, { for: 500 });
  await E(other.cap).read();
  clock.advance(500);
  await code(E(other.cap).read());
  const told = await lines();
  const of = (grant: string): unknown[] =>
    told.filter((line) => line['grant'] === grant).map(({ grant: _, until: __, args: ___, ...rest }) => rest);
  expect(of('g1')).toEqual([
    { k: 'grant', uses: 3 },
    { k: 'call', method: 'read', argc: 0, use: 1 },
    { k: 'call', method: 'fail', argc: 0, use: 2 },
    { k: 'result', method: 'fail', code: 'NOT_FOUND' },
    { k: 'call', method: 'open', argc: 1, use: 3 },
    { k: 'refuse', method: 'read', code: 'exhausted' },
    { k: 'revoke', why: 'owner: enough' },
    { k: 'refuse', method: 'read', code: 'revoked' },
  ]);
  const id = told.find((line) => line['grant'] !== 'g1')?.['grant'] as string;
  expect(of(id).map((line) => (line as { k: string }).k)).toEqual(['grant', 'call', 'expire', 'refuse']);
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
});

test('each call line commits to its arguments, which are kept apart and show only the kind of a reference', async () => {
  const { cap } = revocable(box, { uses: 2 });
  const other = driver<{ x(): void }>({ x: () => {} }, { name: 'other' });
  await E(cap).open('a');
  await code((E(cap) as unknown as { open(...args: unknown[]): Promise<unknown> }).open({ to: other, n: 7n }));
  await code(E(cap).open('refused'));
  const all = [{}, ...(await lines())]; // `lines` leaves out the first
  const told = all.filter((line: Record<string, unknown>) => line['k'] === 'call') as Record<string, unknown>[];
  const kept = told.map((line) => ledgerArguments(store, all.indexOf(line) + 1));
  expect(kept).toEqual(['["a"]', '[{"to":{"$ref":"driver:other"},"n":{"$bigint":"7"}}]']);
  expect(new Set(told.map((line) => line['args'])).size).toBe(2);
});

test('neither arguments nor the message of a foreign error are in a ledger line', async () => {
  const inner = driver<{ write(text: string): void }>({
    write: () => {
      throw new Error('EACCES: /srv/keys/id_rsa');
    },
  });
  const { cap } = revocable(inner as Far<{ write(text: string): void }>, {});
  await code(E(cap).write('my private text'));
  const text = JSON.stringify(await lines());
  expect(text).not.toMatch(/private|id_rsa|EACCES/);
  expect(text).toContain('"code":"error"');
});

test('if the line cannot be written, the call is never sent', async () => {
  const { cap: slow, calls } = slowBox();
  const { cap } = revocable(slow, { uses: 3 });
  expect(await E(cap).read()).toBe('read');
  await store.close(); // from here on each commit fails
  expect(await code(E(cap).slow())).toBe('unknown-outcome');
  await jobs();
  expect(calls).toEqual([]);
});
