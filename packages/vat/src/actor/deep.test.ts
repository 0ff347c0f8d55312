/** Near calls nest deep; beyond the stack there is a clean `limit`, and the turn never happened. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test as always, expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { openForEachTest } from '../../test/opened.ts';
import { attempt, CapError, type Definition, define, E, promise, spawn, type Vat } from '../index.ts';
import { ephemeral } from './ephemeral.ts';

const deep = requires('stack');

let vat: Vat;
openForEachTest((opened) => ({ a: vat } = opened));

interface Stair {
  /** Calls itself `n` times, each call within the one before, and returns how deep it came. */
  down(n: number): number;
  /** The same along a chain of actors, of which each changes. */
  change(n: number): number;
  sends(n: number): void;
  caught(): string;
  count(): number;
}
const Stair: Definition<Stair, [next: Stair | undefined, count: number]> = define('Stair', (bcom, next, count) => ({
  down: (n) => (n === 0 ? 0 : 1 + bcom.self.down(n - 1)),
  change: (n) => bcom(Stair(next, count + 1), next === undefined ? 1 : 1 + next.change(n)),
  sends(n) {
    if (n % 100 === 0) E.sendOnly(bcom.self).change(0);
    bcom.self.sends(n + 1);
  },
  caught() {
    try {
      attempt(() => bcom.self.down(Number.POSITIVE_INFINITY));
    } catch (error) {
      return error instanceof CapError ? error.code : String(error);
    }
    return 'no error';
  },
  count: () => count,
}));
const DEPTH = 10_000;

deep('near calls nest 10,000 deep: of one actor, and along 10,000 actors of which each changes', async () => {
  const stair = await vat.spawn(Stair(undefined, 0));
  expect(await E(stair).down(DEPTH)).toBe(DEPTH);
  const changed = await vat.turn(() => {
    let next: Stair | undefined;
    for (let i = 0; i < DEPTH; i += 1) next = spawn(Stair(next, 0));
    return [(next as Stair).change(0), (next as Stair).count()];
  });
  expect(changed).toEqual([DEPTH, 1]);
});

always(
  'beyond the stack a call is `limit`: for who sent the message, and for who attempted it in the turn',
  async () => {
    const stair = await vat.spawn(Stair(undefined, 0));
    await expect(E(stair).down(Number.POSITIVE_INFINITY)).rejects.toMatchObject({
      code: 'limit',
      message: expect.stringContaining('E'),
    });
    expect(await E(stair).caught()).toBe('limit');
    const endless = vat.turn(() => {
      const made = { at: undefined as unknown as { go(): number } };
      made.at = ephemeral('endless', () => 1 + made.at.go()) as { go(): number };
      return made.at.go();
    });
    await expect(endless).rejects.toMatchObject({ code: 'limit' });
    const outside = (): number => 1 + outside();
    await expect(vat.turn(outside)).rejects.toMatchObject({ code: 'limit' });
  },
);

always('a turn that fills the stack never happened: nothing is changed or sent, and the next one runs', async () => {
  const stair = await vat.spawn(Stair(undefined, 0));
  await expect(E(stair).sends(0)).rejects.toMatchObject({ code: 'limit' });
  expect(await E(stair).count()).toBe(0);
  await vat.turn(() => {
    const failing = (): void => {
      (stair as unknown as Stair).change(0);
      throw new Error('undone');
    };
    expect(() => attempt(failing)).toThrow('undone');
    expect((stair as unknown as Stair).count()).toBe(0);
  });
  expect(await E(stair).change(0)).toBe(1);
  const { promise: still, resolver } = promise<number>();
  resolver.resolve(1);
  expect(await still).toBe(1);
});

deep('a program that Hob starts has a deep stack', async () => {
  const root = join(import.meta.dirname, '../../../..');
  const program = join(import.meta.dirname, '../../test/stack.ts');
  const { stdout } = await promisify(execFile)('node', [join(root, 'scripts/hob.mjs'), 'node', program], { cwd: root });
  expect(JSON.parse(stdout)).toEqual([10_000, 'limit']);
});
