/** Tasks at work, over real rows. The sessions are those of a test, which fail and end in every way that one can. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CapError, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { E, newRows } from '../../test/vats.ts';
import { isEnd, LiveTask, type Task, type TaskOutput, type TaskRows, Tasks, type TasksParts, type TaskWork } from './index.ts'; // biome-ignore format: one line

interface World {
  readonly tasks: Tasks;
  readonly log: string[];
  readonly ended: string[];
  /** The work of each task that was opened, in order. */
  readonly opened: { readonly waits: (requests: readonly string[]) => void; readonly done: PromiseWithResolvers<TaskOutput>; readonly end: AbortSignal }[]; // biome-ignore format: one line
}

async function world(rows: Far<TaskRows>, more: Partial<TasksParts> = {}): Promise<World> {
  const [log, ended, opened]: [string[], string[], World['opened']] = [[], [], []];
  let ids = 0;
  const parts: TasksParts = {
    ...{ rows, now: () => 7, newId: () => `id${++ids}`, log: (line) => void log.push(line) },
    async open({ id }, waits): Promise<TaskWork> {
      return {
        session: `s-${id}`,
        run(_asked, end) {
          const done = Promise.withResolvers<TaskOutput>();
          opened.push({ waits, done, end });
          end.addEventListener('abort', () => done.reject(new CapError('revoked', 'cancelled')));
          return done.promise;
        },
        end: async () => void ended.push(`s-${id}`),
      };
    },
    endLeft: async (session) => void ended.push(session),
    ...more,
  };
  return { tasks: await Tasks.open(parts), log, ended, opened };
}

const asked = { text: 'do it' };

async function over(task: Task): Promise<Task> {
  while (task instanceof LiveTask && !isEnd(task.row.state)) await task.changed;
  return task;
}
const opens = async ({ opened }: World, count: number): Promise<void> => {
  while (opened.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
};

test('a task works, waits for a person, goes on, and is over after its session is', async () => {
  const { rows } = await newRows();
  const at = await world(rows);
  const task = (await at.tasks.send('ezra', { message: 'm', asked })) as LiveTask;
  const seen: string[] = [];
  const watching = (async () => {
    while (!isEnd(task.row.state)) {
      await task.changed;
      seen.push(`${task.row.state} ${task.row.requests ?? ''} ${at.ended}`);
    }
  })();
  await opens(at, 1);
  at.opened[0]?.waits(['R1']);
  while (task.row.state !== 'auth-required') await task.changed;
  at.opened[0]?.waits([]);
  while (at.log.length === 0 && (task.row.requests?.length ?? 1) > 0) await task.changed;
  at.opened[0]?.done.resolve({ value: 5 });
  await watching;
  expect(seen).toEqual(['working  ', 'auth-required R1 ', 'working  ', 'completed  s-id1']);
  expect(await E(rows).find('id1')).toMatchObject({ row: { state: 'completed', session: 's-id1' }, output: { value: 5 } }); // biome-ignore format: one line
  // A change after the end has no effect.
  at.opened[0]?.waits(['R2']);
  expect((await at.tasks.find('ezra', 'id1'))?.row.state).toBe('completed');
});

test('codes and texts of Hob reach the peer, and any other error stays in the log', async () => {
  const { rows } = await newRows();
  const at = await world(rows);
  const ends = async (error: unknown): Promise<unknown> => {
    const task = await at.tasks.send('ezra', { message: String(Math.random()), asked });
    const count = at.opened.length + 1;
    await opens(at, count);
    at.opened[count - 1]?.done.reject(error);
    const { state, said } = (await over(task)).row;
    return [state, said];
  };
  expect(await ends(new CapError('exhausted', 'ask again'))).toEqual(['failed', 'exhausted: ask again']);
  expect(await ends(new CapError('denied', 'no'))).toEqual(['rejected', 'denied: no']);
  expect(await ends(new Error('/srv/secret'))).toEqual(['failed', 'the host could not do it: its log says why']);
  expect(at.log).toEqual([expect.stringContaining('/srv/secret')]);
  const large = await at.tasks.send('ezra', { message: 'large', asked });
  await opens(at, 4);
  at.opened[3]?.done.resolve({ text: 'x'.repeat(300_000) });
  expect([(await over(large)).row.said, large.output]).toEqual([expect.stringMatching(/^limit: /), undefined]);
  const unopened = await world((await newRows()).rows, { open: async () => { throw new Error('/etc/hob'); } }); // biome-ignore format: one line
  const failed = await over(await unopened.tasks.send('ezra', { message: 'm', asked }));
  expect([failed.row.said, unopened.ended]).toEqual(['the host could not do it: its log says why', []]);
});

test('a cancelled task ends its work and its session; one of another peer is not found', async () => {
  const { rows } = await newRows();
  const at = await world(rows);
  const task = await at.tasks.send('ezra', { message: 'm', asked });
  await opens(at, 1);
  expect([await at.tasks.cancel('allegro', task.row.id), await at.tasks.find('allegro', task.row.id)]).toEqual([undefined, undefined]); // biome-ignore format: one line
  expect(at.opened[0]?.end.aborted).toBe(false);
  expect((await at.tasks.cancel('ezra', task.row.id))?.row.state).toBe('canceled');
  expect([at.ended, await at.tasks.cancel('ezra', task.row.id)]).toEqual([['s-id1'], undefined]);
});

test('a message that comes eight times at once begins one task, and costs one place', async () => {
  const { rows } = await newRows();
  const at = await world(rows);
  const all = await Promise.all(Array.from({ length: 8 }, () => at.tasks.send('ezra', { message: 'same', asked })));
  expect(new Set(all.map(({ row }) => row.id)).size).toBe(1);
  for (let n = 0; n < 7; n += 1) await at.tasks.send('ezra', { message: `m${n}`, asked });
  await expect(at.tasks.send('ezra', { message: 'more', asked })).rejects.toMatchObject({ code: 'limit' });
  await opens(at, 8);
  for (const { done } of at.opened) done.resolve({ text: 'ok' });
  for (const row of await at.tasks.of('ezra')) await over((await at.tasks.find('ezra', row.id)) as Task);
  await at.tasks.send('ezra', { message: 'more', asked });
});

test('a task that its process did not live to end is failed, its session ends, and it is not begun again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-tasks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'store.db');
  const before = await newRows(path);
  const first = await world(before.rows);
  await first.tasks.send('ezra', { message: 'm', asked });
  await opens(first, 1);
  first.opened[0]?.waits(['R1']);
  while ((await before.rows && ((await E(before.rows).find('id1')) as Task | undefined)?.row.state) !== 'auth-required'); // biome-ignore format: one line
  await before.close();
  const after = await newRows(path);
  const second = await world(after.rows);
  const found = await second.tasks.find('ezra', 'id1');
  expect(found?.row).toMatchObject({ state: 'failed', said: expect.stringMatching(/^the host ended during the task/) });
  expect([found?.row.requests, second.ended, second.opened]).toEqual([undefined, ['s-id1'], []]);
  expect((await second.tasks.send('ezra', { message: 'm', asked })).row).toEqual(found?.row);
});
