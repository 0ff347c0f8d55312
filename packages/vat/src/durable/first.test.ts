/** `first` runs before the work of the last process continues. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { cancelWake, wakeAt } from '../actor/wake.ts';
import { CapError } from '../core/errors.ts';
import type { Definition, Far } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { openStore } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { driver } from '../turn/driver.ts';
import { define } from '../turn/portrait.ts';
import { under, vatTime } from '../turn/turn.ts';
import type { Vats, VatsOptions } from '../vats/interface.ts';
import { openVats } from '../vats/vats.ts';

interface Log {
  read(): readonly string[];
  add(line: string): void;
  /**
   * Something is on its way to it when the process ends: an answer that it waits for under a grant, and an
   * alarm.
   */
  arm(cause: string, away: { wait(): string }): string;
  disarm(alarm: string): void;
  tell(what: unknown): void;
}
const Log: Definition<Log, [lines: readonly string[]]> = define('Log', (bcom, lines) => ({
  read: () => lines,
  add: (line) => bcom(Log([...lines, line])),
  arm(cause, away) {
    under(cause, () => E.to(bcom.self, 'tell').on(E(away).wait()));
    return wakeAt(vatTime() + 1000, bcom.self, 'add', 'alarm') as never;
  },
  disarm: (alarm) => cancelWake(alarm),
  tell: (what) => bcom(Log([...lines, (what as { code?: string }).code ?? 'ok'])),
}));

const place = mkdtempSync(join(tmpdir(), 'hob-first-'));
const clock = testClock();
let made = 0;

/** A store with an answer that is waited for and an alarm that is due; answers how to open it again. */
async function left(): Promise<{
  readonly alarm: string;
  again(first?: (vats: Vats, log: () => Promise<Far<Log>>) => Promise<void>): Promise<{ vats: Vats; log: Far<Log> }>;
}> {
  made += 1;
  const path = join(place, String(made));
  const open = async (first?: VatsOptions['first']): Promise<Vats> => {
    const store = await openStore({ path });
    const closing = async (): Promise<void> => void (await store.close());
    try {
      const vats = await openVats({ store, clock, definitions: [Log], ...(first === undefined ? {} : { first }) });
      onTestFinished(async () => {
        await vats.close();
        await closing();
      });
      return vats;
    } catch (error) {
      await closing();
      throw error;
    }
  };
  const find = (vats: Vats): Promise<Far<Log>> => vats.vat('v').root('log', () => Log([]));
  const store = await openStore({ path });
  const vats = await openVats({ store, clock, definitions: [Log] });
  const away = driver<{ wait(): string }>(
    {
      wait: (_args, { signal }) =>
        new Promise<string>((_, no) => signal.addEventListener('abort', () => no(signal.reason))),
    },
    { name: `away-${made}` },
  );
  const alarm = await E(await find(vats)).arm('grant', away as never);
  await vats.settled();
  await vats.close().catch(() => {});
  await store.close();
  clock.advance(2000);
  return {
    alarm,
    async again(first) {
      const opened = await open(first === undefined ? undefined : (it) => first(it, () => find(it)));
      return { vats: opened, log: await find(opened) };
    },
  };
}
afterAll(() => rmSync(place, { recursive: true, force: true }));

async function shown(log: Far<Log>, vats: Vats): Promise<readonly string[]> {
  await vats.settled();
  await E(log).read();
  await vats.settled();
  return [...(await E(log).read())].sort();
}

test('without `first`, and after it, all messages that were left behind go on, each once', async () => {
  const plain = await (await left()).again();
  expect(await shown(plain.log, plain.vats)).toEqual(['alarm', 'restarted']);
  let seen: readonly string[] | undefined;
  const { vats, log } = await (await left()).again(async (_vats, find) => {
    const it = await find();
    await E(it).add('first');
    seen = await E(it).read();
  });
  expect(seen).toEqual(['first']);
  expect(await shown(log, vats)).toEqual(['alarm', 'first', 'restarted']);
});

test('work that `first` ends does not happen: nothing arrives under a cause that it cut, and a cancelled alarm wakes nobody', async () => {
  const store = await left();
  const { vats, log } = await store.again(async (them, find) => {
    await them.cut('grant', new CapError('revoked', 'over'));
    await E(await find()).disarm(store.alarm);
  });
  expect(await shown(log, vats)).toEqual([]);
});

test('if `first` throws nothing goes on, openVats rejects with its error, and the messages are left for the next process', async () => {
  const store = await left();
  await expect(
    store.again(async () => {
      throw new CapError('unavailable', 'not now');
    }),
  ).rejects.toMatchObject({ code: 'unavailable' });
  const { vats, log } = await store.again();
  expect(await shown(log, vats)).toEqual(['alarm', 'restarted']);
});
