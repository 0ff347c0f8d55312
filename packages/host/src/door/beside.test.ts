/** Several programs of one session, connected at once. */
import { connect, E } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { expect, onTestFinished, test } from 'vitest';
import { later, scene } from '../../test/asking.ts';
import { code } from '../../test/test-host.ts';
import type { SessionFace } from '../index.ts';

async function enter(url: string, secret: string): Promise<Connected<SessionFace>> {
  const connection = await connect<SessionFace>(url, { secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  return connection;
}

test('connections beside each other stay open; one that is not beside closes them all', async () => {
  const at = await scene();
  const beside = `${at.url}/beside`;
  const programs = [await enter(beside, at.session.secret), await enter(beside, at.session.secret)];
  for (const { bootstrap } of [...programs, at.agent]) expect(await E(bootstrap).caps()).toEqual([]);
  await enter(at.url, at.session.secret);
  for (const { closed } of [...programs, at.agent]) expect((await closed).code).toBe(4401);
});

test('a session has 8 of them at the most, and the end of one makes room', async () => {
  const at = await scene();
  const beside = `${at.url}/beside`;
  const programs = [];
  for (let n = 0; n < 7; n += 1) programs.push(await enter(beside, at.session.secret));
  expect(await code(connect(beside, { secret: at.session.secret }))).toBe('limit');
  programs[0]!.close();
  await programs[0]!.closed;
  for (;;) {
    const entered = await connect<SessionFace>(beside, { secret: at.session.secret }).catch(() => undefined);
    if (entered === undefined) continue;
    entered.close();
    await entered.closed;
    break;
  }
});

test('a call that waits for a person goes on when another program of the session comes and goes', async () => {
  const at = await scene();
  await E(at.owner).grant(at.session.id, 'docs', 'notes', { gated: ['write'] });
  const beside = `${at.url}/beside`;
  const first = await enter(beside, at.session.secret);
  const wrote = later(
    E(first.bootstrap).call({ call: 'the-call-that-waits', cap: 'docs', method: 'write', args: ['a.txt', 'one'] }),
  );
  const [asked] = await at.inbox();
  const second = await enter(beside, at.session.secret);
  expect(await E(second.bootstrap).caps()).toEqual(['docs']);
  expect((await at.inbox())[0]!.waiting).toBe(true);
  second.close();
  await second.closed;
  await at.answer(asked!, { grant: {} });
  await wrote;
  expect(at.file('a.txt')).toBe('one');
});

test('neither a wrong secret nor a web page comes in beside', async () => {
  const at = await scene();
  expect(await code(connect(`${at.url}/beside`, { secret: 'hob1_wrong' }))).toBe('denied');
  expect((await (E(at.agent.bootstrap).caps() as unknown as Promise<string[]>)).length).toBe(0);
});
