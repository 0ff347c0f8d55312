/** A program that brings its own tools. The attacker is a session; a second program has accidents. */
import { CapError, connect, driver, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { code, held, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { Granter, LocalGranter, Request, RequestedCall } from '../index.ts';
import type { RemoteTools } from './remote-tools.ts';
import { type ToolHost, type ToolsAbout, toolHostOf } from './tool-host.ts';

interface Mail {
  send(given: unknown): string;
  wait(): string;
}
interface Program {
  readonly host: Far<ToolHost>;
  leave(): Promise<void>;
}

let home: TestHost;
let door: string;
const programs: Connected<LocalGranter>[] = [];
beforeEach(async () => {
  home = await testHost();
  const tools = toolHostOf({ host: home.host, granter: 'owner', url: home.url });
  door = (await home.host.serveGranter({ granter: 'owner', daemon: { tools: async () => tools } })).url;
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.close();
    await program.closed;
  }
  await home.close();
});

async function program(): Promise<Program> {
  const connection = await connect<LocalGranter>(door, { secret: 'none' });
  programs.push(connection);
  const daemon = E(connection.bootstrap).daemon() as unknown as Far<{ tools(): ToolHost }>;
  return {
    host: E(daemon).tools() as unknown as Far<ToolHost>,
    leave: async () => {
      connection.close();
      await connection.closed;
    },
  };
}

interface Script {
  readonly sent: unknown[];
  readonly cancelled: number[];
  /** Is fulfilled when `wait` runs. */
  readonly waits: Promise<void>;
}

function mail(): Script & { readonly tools: RemoteTools } {
  const [sent, cancelled] = [[] as unknown[], [] as number[]];
  const waits = Promise.withResolvers<void>();
  const over = new Map<number, (why: CapError) => void>();
  const tools = driver<RemoteTools>({
    call: ([number, method, args]) => {
      if (method !== 'wait') {
        sent.push(args[0]);
        return 'sent';
      }
      waits.resolve();
      return new Promise((_, reject) => over.set(number, reject));
    },
    cancel: ([number]) => {
      cancelled.push(number);
      over.get(number)?.(new CapError('revoked', 'cancelled'));
    },
    withdrawn: () => new Promise<never>(() => {}),
  }) as unknown as RemoteTools;
  return { sent, cancelled, waits: waits.promise, tools };
}

const about: ToolsAbout = { methods: ['send', 'wait'] };

test('an object is offered by a program, granted, and called by a session: the ledger has the call', async () => {
  const [{ host }, { sent, tools }] = [await program(), mail()];
  await E(host).offer('mail', tools, about);
  const { id, secret, again } = await E(host).openSession('agent');
  expect(again).toBe(false);
  await E(home.granter).grant(id, 'mail', 'mail', { uses: 1 });
  const entered = await home.enter(secret);
  expect(await E(held<Mail>(entered, 'mail')).send({ to: 'ann' })).toBe('sent');
  expect(await code(E(held<Mail>(entered, 'mail')).send({ to: 'bob' }))).toBe('exhausted');
  expect(sent).toEqual([{ to: 'ann' }]);
  expect(await lines(home.host, 'call')).toMatchObject([{ method: 'send' }]);
});

test('an object lives as long as its connection, and offered again it stands behind the same grants', async () => {
  const first = await program();
  await E(first.host).offer('mail', mail().tools, about);
  const { id, secret } = await E(first.host).openSession('agent');
  await E(home.granter).grant(id, 'mail', 'mail', { scope: 'session' });
  const entered = await home.enter(secret);
  const cap = held<Mail>(entered, 'mail');
  const waiting = code(E(cap).wait());
  expect(await E(cap).send({})).toBe('sent');
  await first.leave();
  // It may have happened. A later call cannot have.
  expect(await waiting).toBe('unknown-outcome');
  expect(await code(E(cap).send({}))).toBe('unavailable');
  const second = await program();
  const { sent, tools } = mail();
  await E(second.host).offer('mail', tools, about);
  expect(await E(cap).send({ to: 'ann' })).toBe('sent');
  const again = await E(second.host).openSession('agent');
  expect(again).toMatchObject({ id, again: true });
  expect(await E((await home.enter(again.secret)).bootstrap).caps()).toEqual(['mail']);
  expect(sent).toEqual([{ to: 'ann' }]);
});

test('a call while the program is away costs no use, and what is left works when it is back', async () => {
  const first = await program();
  await E(first.host).offer('mail', mail().tools, about);
  const { id, secret } = await E(first.host).openSession('agent');
  await E(home.granter).grant(id, 'mail', 'mail', { uses: 2 });
  const cap = held<Mail>(await home.enter(secret), 'mail');
  expect(await E(cap).send({})).toBe('sent');
  await first.leave();
  for (let n = 0; n < 3; n += 1) expect(await code(E(cap).send({}))).toBe('unavailable');
  const second = await program();
  await E(second.host).offer('mail', mail().tools, about);
  expect(await E(cap).send({})).toBe('sent');
  expect(await code(E(cap).send({}))).toBe('exhausted');
});

test('revoking cancels the call in the program, and waits until the program says that it has ended', async () => {
  const [{ host }, { waits, cancelled, tools }] = [await program(), mail()];
  await E(host).offer('mail', tools, about);
  const { id, secret } = await E(host).openSession('agent');
  const grant = (await E(home.granter).grant(id, 'mail', 'mail', { scope: 'session' })) as { readonly id: string };
  const waiting = code(E(held<Mail>(await home.enter(secret), 'mail')).wait());
  await waits;
  await E(home.granter).revoke({ grant: grant.id });
  expect(cancelled).toEqual([1]);
  expect(await waiting).toBe('revoked');
});

test('a program takes no name that the host itself offers, and its offers have methods', async () => {
  await home.host.offer('files', { read: async () => 'ours' });
  const [{ host }, { tools }] = [await program(), mail()];
  expect(await code(E(host).offer('files', tools, about))).toBe('invalid');
  for (const wrong of [{ methods: [] }, { methods: 'send' }, {}, { ...about, more: 1 }])
    expect(await code(E(host).offer('mail', tools, wrong as ToolsAbout)), JSON.stringify(wrong)).toBe('invalid');
  expect(await code(E(host).offer('mail', {} as RemoteTools, about))).toBe('invalid');
});

test('the granter of a call that waits gets its arguments as data, and nobody else does', async () => {
  const [{ host }, { sent, tools }] = [await program(), mail()];
  await E(host).offer('mail', tools, about);
  const { id, secret } = await E(host).openSession('agent');
  await E(home.granter).grant(id, 'mail', 'mail', { scope: 'session', gated: true });
  const cap = held<Mail>(await home.enter(secret), 'mail');
  const given = { to: 'ann\u202e', amounts: [1.5, 2], whole: { deep: true } };
  const sends = [E(cap).send(given), E(cap).send({ text: 'x'.repeat(100_001) })].map((call) => code(call));
  const inbox = async (): Promise<readonly Request[]> => (await E(home.granter).inbox()) as readonly Request[];
  let [since, asked] = [await E(home.granter).changed(), await inbox()];
  while (asked.length < 2) [since, asked] = [await E(home.granter).changed(since), await inbox()];
  const calls = asked.map(async ({ id: request }) => (await E(home.granter).requestedCall(request)) as RequestedCall);
  expect(await Promise.all(calls)).toEqual([
    { method: 'send', args: [given], digest: asked[0]?.digest },
    { method: 'send', digest: asked[1]?.digest },
  ]);
  // A page for a person has only texts of ours.
  expect(JSON.stringify(asked)).not.toContain('\u202e');
  const { granter: other } = await home.host.addGranter('other');
  for (const wrong of [asked[0]?.id, 'q999-none', 5, undefined])
    expect(await code(E(other).requestedCall(wrong as string)), String(wrong)).toBe('no-such-object');
  const judge = E(home.granter).judge() as unknown as Far<Granter>;
  expect(await code(E(judge).requestedCall(asked[0]?.id ?? ''))).toBe('no-such-method');
  for (const { id: request, digest } of asked) await E(home.granter).answer(request, { grant: {}, digest });
  expect(await Promise.all(sends)).toEqual(['ok', 'ok']);
  expect(sent[0]).toEqual(given);
});
