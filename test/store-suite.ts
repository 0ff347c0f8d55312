/** The rules of a store, tried on one engine: the same tests for each kind. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeLine } from '../packages/vat/src/ledger/line.ts';
import type { StoreEngine } from '../packages/vat/src/store/engine.ts';
import type { LedgerLine } from '../packages/vat/src/store/records.ts';

export { engineOf } from '../packages/vat/src/store/store.ts';
export type { StoreEngine };

export interface EngineKind {
  open(): Promise<StoreEngine>;
  /** Room for some small commits, none for 4,000 lines of 1 KiB. */
  small(): Promise<StoreEngine>;
  /** On a full disk it still takes what ends authority. */
  readonly reserve: boolean;
}

export function closing(engine: StoreEngine): StoreEngine {
  onTestFinished(() => engine.close());
  return engine;
}

/** Returns `count` lines that follow the head. */
export function linesAfter({ seq, hash }: { seq: number; hash: string }, count: number, pad = ''): LedgerLine[] {
  const lines: LedgerLine[] = [];
  for (let i = 1; i <= count; i += 1) {
    const line = makeLine({ seq: seq + i, t: 0, vt: 0, kind: 'call', fields: { pad }, prev: hash });
    hash = line.hash;
    lines.push(line);
  }
  return lines;
}

export const unavailable: unknown = expect.objectContaining({ name: 'CapError', code: 'unavailable' });

type Testing = (name: string, body: () => Promise<void>) => void;

export function storeSuite(kind: string, { open, small, reserve }: EngineKind, testing: Testing = test): void {
  describe(kind, () => {
    testing('what is committed is there, in order, byte for byte, and the head is its last line', async () => {
      const engine = closing(await open());
      expect(engine.head()).toEqual({ seq: 0, hash: '' });
      const lines = linesAfter(engine.head(), 10);
      engine.commit(engine.epoch, { lines: lines.slice(0, 3) });
      engine.commit(engine.epoch, { lines: lines.slice(3) });
      expect(engine.head()).toEqual({ seq: 10, hash: lines.at(-1)?.hash });
      const plain = (from: number, limit: number) =>
        engine.lines(from, limit).map(({ seq, bytes }) => [seq, Buffer.from(bytes).toString()]);
      const expected = lines.map(({ seq, bytes }) => [seq, Buffer.from(bytes).toString()]);
      expect(plain(1, 100)).toEqual(expected);
      expect(plain(4, 2)).toEqual(expected.slice(3, 5));
      expect(plain(-5, 2)).toEqual(expected.slice(0, 2));
      expect(plain(11, 5)).toEqual([]);
    });

    testing('who reads a line cannot change it, nor who wrote it', async () => {
      const engine = closing(await open());
      const [line] = linesAfter(engine.head(), 1);
      const before = Buffer.from(line!.bytes).toString();
      engine.commit(engine.epoch, { lines: [line!] });
      line!.bytes.fill(0);
      engine.lines(1, 1)[0]?.bytes.fill(1);
      expect(Buffer.from(engine.lines(1, 1)[0]!.bytes).toString()).toBe(before);
    });

    testing('an older or invented epoch is refused, and that harms nobody', async () => {
      const engine = closing(await open());
      const lines = linesAfter(engine.head(), 1);
      for (const epoch of [engine.epoch - 1, engine.epoch + 1, Number.NaN]) {
        expect(() => engine.commit(epoch, { lines })).toThrow(unavailable);
      }
      expect(engine.head().seq).toBe(0);
      engine.commit(engine.epoch, { lines });
      expect(engine.head().seq).toBe(1);
    });

    testing('lines that do not follow the head are refused: none is overwritten, none left out', async () => {
      const engine = closing(await open());
      const lines = linesAfter(engine.head(), 4);
      engine.commit(engine.epoch, { lines: lines.slice(0, 2) });
      for (const wrong of [lines.slice(0, 2), lines.slice(1), lines.slice(3), [lines[2]!, lines[2]!]]) {
        expect(() => engine.commit(engine.epoch, { lines: wrong })).toThrow(
          expect.objectContaining({ code: 'invalid' }),
        );
      }
      engine.commit(engine.epoch, { lines: lines.slice(2) });
      expect(engine.lines(1, 10).length).toBe(4);
    });

    testing('a commit that the disk refuses leaves nothing of itself, and is the last', async () => {
      const engine = closing(await small());
      engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 3) });
      const head = engine.head();
      let told = 0;
      engine.onCommit(() => (told += 1));
      const large = linesAfter(head, 4000, 'x'.repeat(1000));
      expect(() => engine.commit(engine.epoch, { lines: large })).toThrow(unavailable);
      expect(engine.head()).toEqual(head);
      expect(engine.lines(1, 10_000).length).toBe(3);
      // A small commit would fit, but it was prepared after the failed one and must not be written.
      expect(() => engine.commit(engine.epoch, { lines: linesAfter(head, 1) })).toThrow(unavailable);
      expect(engine.lines(1, 10_000).length).toBe(3);
      expect(told).toBe(0);
    });

    testing(
      'listeners hear of each commit after it is done, of the close while lines can be read, and of nothing once stopped',
      async () => {
        const engine = closing(await open());
        const heard: string[] = [];
        const hear = (name: string) => () => void heard.push(`${name} ${engine.lines(1, 10).length}`);
        const stop = engine.onCommit(hear('first'));
        engine.onCommit(hear('second'));
        engine.onClose(hear('closing'));
        engine.onClose(hear('never'))();
        engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 2) });
        stop();
        engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1) });
        engine.commit(engine.epoch, { lines: [] });
        await engine.close();
        await engine.close();
        expect(heard).toEqual(['first 2', 'second 2', 'second 3', 'closing 3']);
      },
    );

    testing('a closed store says so', async () => {
      const engine = await open();
      const lines = linesAfter(engine.head(), 1);
      await engine.close();
      expect(() => engine.commit(engine.epoch, { lines })).toThrow(unavailable);
      expect(() => engine.lines(1, 1)).toThrow(unavailable);
      expect(engine.head()).toEqual({ seq: 0, hash: '' });
    });

    /** Requests commits. Returns their results in order. */
    const later = (engine: StoreEngine) => {
      const told: string[] = [];
      const give = (name: string, writes: Parameters<StoreEngine['commit']>[1]): Promise<void> =>
        new Promise((resolve) =>
          engine.commitLater(engine.epoch, writes, (error) => {
            told.push(`${name} ${error === undefined ? 'done' : (error as { code: string }).code}`);
            resolve();
          }),
        );
      return { told, give };
    };
    const cell = (key: string, value: string) => ({ lines: [], cells: new Map([[key, value]]) });

    testing(
      'commits that are given are done in order, each on the one before; what is committed at once comes after them',
      async () => {
        const engine = closing(await open());
        const { told, give } = later(engine);
        const given = [];
        for (const name of ['a', 'b', 'c']) given.push(give(name, { lines: linesAfter(engine.head(), 2) }));
        expect(engine.head().seq).toBe(6);
        engine.commit(engine.epoch, { lines: linesAfter(engine.head(), 1), cells: new Map([['a/x', '1']]) });
        expect([engine.head().seq, engine.lines(1, 100).length, engine.get('a/x')]).toEqual([7, 7, '1']);
        await Promise.all(given);
        expect(told).toEqual(['a done', 'b done', 'c done']);
        await give('nothing', { lines: [] });
        expect(await engine.getAllLater(['a/x', 'a/y'])).toEqual(['1', undefined]);
        expect(await engine.pageLater('a/', 'a/', 9)).toEqual([['a/x', '1']]);
      },
    );

    testing(
      'what was given to follow a commit that failed is not done, also where it would fit; the head is the last that was done',
      async () => {
        const engine = closing(await small());
        engine.commit(engine.epoch, cell('a/before', 'x'));
        const { told, give } = later(engine);
        const first = give('fits', { lines: linesAfter(engine.head(), 3) });
        const head = engine.head();
        const large = give('large', { lines: linesAfter(head, 4000, 'x'.repeat(1000)) });
        const follower = give('follower', cell('a/follower', 'x'));
        const behind = give('lines', { lines: linesAfter(engine.head(), 1) });
        await Promise.all([first, large, follower, behind]);
        expect(told).toEqual(['fits done', 'large unavailable', 'follower unavailable', 'lines unavailable']);
        expect(engine.head()).toEqual(head);
        expect([engine.get('a/before'), engine.get('a/follower'), engine.lines(1, 9999).length]).toEqual([
          'x',
          undefined,
          3,
        ]);
        expect([engine.full, engine.failed]).toEqual([true, false]);
        await give('later', cell('a/later', 'x'));
        expect(told.at(-1)).toBe('later unavailable');
        const ending = linesAfter(head, 1).map((line) => ({ ...line, urgency: 'ends' as const }));
        await give('ends', { lines: ending, cells: new Map([['a/revoked', 'x']]) });
        if (reserve) expect([told.at(-1), engine.get('a/revoked')]).toEqual(['ends done', 'x']);
      },
    );

    testing('whoever gave a commit is told, also where the store is closed meanwhile', async () => {
      const engine = await open();
      const { told, give } = later(engine);
      const given = [give('a', cell('a/a', 'x')), give('b', { lines: linesAfter(engine.head(), 1) })];
      const over = engine.close();
      await Promise.all([...given, over]);
      await give('late', cell('a/c', 'x'));
      expect(told).toEqual(['a done', 'b done', 'late unavailable']);
    });
  });
}
