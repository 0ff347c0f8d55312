/**
 * kill -9 around a message: it is delivered at most once, and after a kill between hand-over and answer its outcome is
 * unknown. Nothing sends it again by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../../../test/sources.ts';
import { web } from '../test/web.ts';

/** When the process is killed, and what may have happened to the message by then. */
const ROWS = [
  ['when the draft is made and not handed over', 'drafted'],
  ['when the server has the message and has not answered', 'received'],
  ['when the server has answered and the answer is on its way', 'answered'],
] as const;
const ROUNDS = 2;
/** The word of a vat for it, to an actor that waited over a restart. */
const UNKNOWN = 'restarted';

test.for(ROWS)(
  'killed %s, a message is delivered at most once, over restarts too',
  { timeout: 300_000 },
  async ([, moment]) => {
    const folder = mkdtempSync(join(tmpdir(), 'hob-message-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    /** How often the server got each message, by its id. */
    const got = new Map<string, number>();
    let onRequest: () => void = () => {};
    let answers = true;
    await using server = await web((request, response) => {
      const id = String(request.headers['idempotency-key']);
      got.set(id, (got.get(id) ?? 0) + 1);
      onRequest();
      if (answers) response.end('ok');
    });
    const start = async (): Promise<{ child: ChildProcess; line: (fits: RegExp) => Promise<string> }> => {
      const args = [
        join(ROOT, 'packages/caps-net/crash/message-child.ts'),
        folder,
        `http://127.0.0.1:${server.port}/hook`,
      ];
      const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
      const line = async (fits: RegExp): Promise<string> => {
        for (;;) {
          const { value, done } = await lines.next();
          if (done === true) throw new Error('it ended');
          if (fits.test(value as string)) return value as string;
        }
      };
      await line(/^open$/);
      return { child, line };
    };
    const ids: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { child, line } = await start();
      const exited = once(child, 'exit');
      const reached = new Promise<void>((resolve) => {
        onRequest = resolve;
      });
      answers = moment === 'answered';
      child.stdin?.write(`message ${round}\n`);
      ids.push((await line(/^draft /)).slice(6));
      if (moment !== 'drafted') await reached;
      child.kill('SIGKILL');
      await exited;
    }
    answers = true;
    onRequest = () => {};
    const { child, line } = await start();
    const exited = once(child, 'exit');
    let rows: readonly (readonly [string, string])[] = [];
    do {
      child.stdin?.write('all\n');
      rows = JSON.parse(await line(/^\[/)) as never;
    } while (rows.some(([, how]) => how === 'sending'));
    child.stdin?.write('after\n');
    ids.push((await line(/^draft /)).slice(6));
    do {
      child.stdin?.write('all\n');
      rows = JSON.parse(await line(/^\[/)) as never;
    } while (!rows.some(([id, how]) => id === ids.at(-1) && how !== 'sending'));
    child.kill('SIGKILL');
    await exited;
    const outcomes = new Map(rows);
    for (const id of ids.slice(0, -1)) {
      expect(got.get(id) ?? 0).toBeLessThanOrEqual(1);
      const how = outcomes.get(id);
      // A message that the server has is never told as one that was not sent, and one that may be on its way is unknown.
      if (moment === 'received') expect([got.get(id), how]).toEqual([1, UNKNOWN]);
      else expect(['sent', UNKNOWN, undefined]).toContain(how);
      if (how === 'sent') expect(got.get(id)).toBe(1);
    }
    // A new message goes out as ever, and the old ones did not.
    expect([got.get(ids.at(-1) as string), outcomes.get(ids.at(-1) as string)]).toEqual([1, 'sent']);
    expect([...got.keys()].every((id) => ids.includes(id))).toBe(true);
  },
);
