/** kill -9 with requests pending, in a real process: nobody's yes reaches what was asked before. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { expect, onTestFinished, test } from 'vitest';
import { later } from '../../test/asking.ts';
import { HostProcess } from '../../test/host-process.ts';
import { code, held, scratch } from '../../test/test-host.ts';
import type { Request, SessionFace } from '../index.ts';

interface Bell {
  ring(): Promise<string>;
}

test('after kill -9 requests have expired, an answer to one grants nothing, and earlier grants still work', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const start = (): HostProcess => {
    const host = new HostProcess(join(folder, 'state'));
    onTestFinished(() => host.kill());
    return host;
  };
  const enter = async (url: string, secret: string): Promise<Connected<SessionFace>> => {
    const connection = await connect<SessionFace>(url, { secret });
    onTestFinished(async () => {
      connection.close();
      await connection.closed;
    });
    return connection;
  };
  const ask = (of: Connected<SessionFace>, uses: number): Promise<unknown> =>
    later(E(of.bootstrap).request({ asks: 'bell', terms: { uses }, why: '' }));
  const inbox = async (host: HostProcess, count: number): Promise<readonly Request[]> => {
    for (;;) {
      const all = await host.do<Request[]>('granter', 'owner', 'inbox');
      if (all.length === count) return all;
    }
  };
  const first = start();
  await first.do('offer');
  await first.do('addGranter', 'owner');
  const { id, secret } = await first.do<{ id: string; secret: string }>('openSession', { name: 'work', granters: ['owner'] }); // biome-ignore format: one line
  await first.do('granter', 'owner', 'grant', id, 'waits', 'bell', { gated: true });
  const agent = await enter(await first.url, secret);
  const granted = ask(agent, 3);
  const [yes] = await inbox(first, 1);
  await first.do('granter', 'owner', 'answer', yes?.id, { grant: { uses: 3 }, digest: yes?.digest });
  await granted;
  const refused = ask(agent, 100);
  const [no] = await inbox(first, 1);
  await first.do('granter', 'owner', 'answer', no?.id, { refuse: 'never', lasting: true, digest: no?.digest });
  expect(await code(refused)).toBe('denied');
  const pending = [code(ask(agent, 4)), code(ask(agent, 5)), code(E(held<Bell>(agent, 'waits')).ring())];
  const asked = await inbox(first, 3);
  await first.kill();
  for (const one of await Promise.all(pending)) expect(['disconnected', 'closed']).toContain(one);

  const second = start();
  await second.do('offer');
  expect(await second.do('granter', 'owner', 'inbox')).toEqual([]);
  for (const { id: request, digest } of asked) {
    const answered = second.do('granter', 'owner', 'answer', request, { grant: {}, digest });
    expect(await answered).toBe('no-such-object');
  }
  const again = await enter(await second.url, secret);
  expect(await E(again.bootstrap).caps()).toEqual(['bell', 'waits']);
  // A person's grant is there with the rest of its uses. A lasting refusal stays.
  expect(await code(E(held<Bell>(again, 'bell')).ring())).toBe('ok');
  expect(await code(ask(again, 100))).toBe('denied');
  // The same request is now a new one.
  const anew = ask(again, 4);
  const [next] = await inbox(second, 1);
  expect(asked.map(({ id: old }) => old)).not.toContain(next?.id);
  const gated = E(held<Bell>(again, 'waits')).ring();
  for (const { id: request, digest, kind } of await inbox(second, 2))
    await second.do('granter', 'owner', 'answer', request, { grant: kind === 'call' ? {} : { uses: 4 }, digest });
  await anew;
  expect(await gated).toBe('ding');
  expect(await second.do('verify')).toMatchObject({ ok: true });
});
