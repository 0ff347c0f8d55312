/** Breaks of promises: whoever handles one has handled it, and whoever waits learns its reason. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import { type Definition, define, E, type Outcome, openStore, openVats, promise, type Vat } from '../index.ts';

let vat: Vat;
openForEachTest((opened) => ({ a: vat } = opened));

test('no break ends the process that is handled in a turn, or that an ignored E.when passes on; others do', async () => {
  const root = join(import.meta.dirname, '../../../..');
  const args = ['--import', './scripts/resolve.mjs', join(import.meta.dirname, '../../test/unheard.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  expect(JSON.parse(stdout)).toEqual({
    'handled in a turn, resolved to another': [],
    'handled in a turn, resolved to another that broke before': [],
    'sent to, through another': [],
    'ignored outside a turn': [],
    'ignored in a turn': [],
    'the program holds it and does not handle it': ['unheard'],
  });
});

test('E.when without a handler passes the value or the break through, in a turn and outside', async () => {
  const wait = (): readonly unknown[] => {
    const [ok, bad] = [promise<number>(), promise<number>()];
    ok.resolver.resolve(1);
    bad.resolver.break(new RangeError('bad'));
    return [
      E.when(ok.promise),
      E.when(bad.promise),
      E.when(ok.promise, undefined, () => 'handled'),
      E.when(bad.promise, undefined, () => 'handled'),
      E.when('data'),
    ];
  };
  const settled = async (waits: readonly unknown[]): Promise<readonly unknown[]> =>
    (await Promise.allSettled(waits)).map((one) =>
      one.status === 'fulfilled' ? one.value : String(one.reason as Error),
    );
  const expected = [1, 'RangeError: bad', 1, 'handled', 'data'];
  expect(await settled(wait())).toEqual(expected);
  expect(await settled(await vat.turn(wait))).toEqual(expected);
});

test('an actor that waits with E.to learns data that a promise broke with, also after it is stored', async () => {
  interface Waiter {
    wait(on: Promise<unknown>): void;
    woken(outcome: Outcome): void;
    got(): readonly Outcome[];
  }
  const Waiter: Definition<Waiter, [got: readonly Outcome[]]> = define('Waiter', (bcom, got) => ({
    wait: (on) => E.to(bcom.self, 'woken').on(on),
    woken: (outcome) => bcom(Waiter([...got, outcome])),
    got: () => got,
  }));
  const store = await openStore({ memory: true });
  const vats = await openVats({ store, definitions: [Waiter] });
  const durable = vats.vat('a');
  const waiter = await durable.root('waiter', () => Waiter([]));
  const made = [promise<number>(), promise<number>(), promise<number>()] as const;
  for (const { promise: broken } of made) await E(waiter).wait(broken);
  const reasons: readonly unknown[] = [{ tries: 3 }, undefined, new Error('an error')];
  for (const [i, { resolver }] of made.entries()) {
    resolver.break(reasons[i] as Error);
    await durable.turn(() => 'the outcome is in');
    await durable.turn(() => 'and kept');
  }
  expect(await E(waiter).got()).toEqual([
    { ok: false, code: 'error', message: 'it was broken with data: see `reason`', reason: { tries: 3 } },
    { ok: false, code: 'error', message: 'it was broken without a reason' },
    { ok: false, code: 'error', message: 'an error' },
  ]);
  await vats.close();
  await store.close();
});
