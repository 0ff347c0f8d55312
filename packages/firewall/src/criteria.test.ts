/** The six verification criteria of the report "Human Confirmation Firewall", section 7, each as a test of its name. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { makeShellCap, type ShellCap } from '@hob/caps-shell';
import { type Granter, openHost, type Request, type SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { effectsOf, withEffects } from '@hob/vat/forwarder';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import type { Mode } from './assess/decide.ts';
import { makeFirewall } from './firewall.ts';
import { replay } from './replay/replay.ts';

interface Mail {
  read(): Promise<string>;
  send(to: string, text: string): Promise<string>;
}

/** A host with a directory and a mailbox, and a session that holds both by name. */
async function world(mode: Mode) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-criteria-'));
  const root = join(folder, 'root');
  mkdirSync(root);
  const host = await openHost({ stateDir: join(folder, 'state'), firewall: makeFirewall({ mode }) });
  const directory = await openFsCap(root);
  onTestFinished(async () => {
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  const sent: string[] = [];
  const mail: Mail = { read: async () => 'no mail', send: async (to, text) => { sent.push(`${to}: ${text}`); return 'sent'; } };
  await host.offer('notes', directory);
  await host.offer('mail', mail, { effects: { read: { class: 'A' }, send: { class: 'C', outbound: true } } });
  const { granter, secret } = await host.addGranter('alice');
  const session = await host.openSession({ name: 'work', granters: ['alice'] });
  const grant = async (petname: string, offer: string, terms: object = {}): Promise<unknown> =>
    await E(granter).grant(session.id, petname, offer, { for: 60_000, ...terms });
  await grant('notes', 'notes');
  await grant('mail', 'mail', { level: 'high' });
  const cap = <T extends object>(petname: string): Promise<Far<T>> => session.cap<T>(petname);
  const asked = async (of: Far<Granter> = granter): Promise<Request> => {
    for (;;) {
      const [first] = (await E(of).inbox()) as readonly Request[];
      if (first !== undefined) return first;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const lines = async (kind: string): Promise<readonly Record<string, unknown>[]> => {
    const all: Record<string, unknown>[] = [];
    for await (const line of host.ledger()) all.push(JSON.parse(line));
    return all.filter(({ k }) => k === kind);
  };
  return { host, directory, granter, granterSecret: secret, session, sent, grant, cap, asked, lines };
} // biome-ignore format: one screen

const refused = (promise: unknown): Promise<unknown> => (promise as Promise<unknown>).catch((error) => error);

test('every tool call receives a scored assessment before dispatch', async () => {
  const at = await world('observe');
  const [notes, mail] = [await at.cap<FsCap>('notes'), await at.cap<Mail>('mail')];
  await E(notes).write('a.txt', 'one');
  await E(notes).readText('a.txt');
  await refused(E(notes).readText('none.txt'));
  await refused((E(notes) as unknown as Record<string, () => Promise<unknown>>)['noSuchMethod']!());
  await E(mail).send('bob', 'hello');
  const calls = await at.lines('call');
  expect(calls.map(({ method }) => method)).toEqual(['write', 'readText', 'readText', 'noSuchMethod', 'send']);
  for (const { risk, sure, effect, pattern } of calls) {
    expect([risk, sure].every((score) => typeof score === 'number' && score >= 0 && score <= 1)).toBe(true);
    expect([effect, pattern]).toEqual([expect.stringMatching(/^[ABCD]$/), expect.stringMatching(/^(?:pre_execution_gate|post_execution_review|confidence_threshold)$/)]); // biome-ignore format: one line
  }
  // The assessment is in the line that was written before the call was sent.
  const order = (await at.lines('call')).map(({ seq }) => seq as number);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

test('crisis-sensitive outbound actions always require human confirmation', async () => {
  for (const mode of ['observe', 'enforce'] as const) {
    const at = await world(mode);
    const mail = await at.cap<Mail>('mail');
    const sending = E(mail).send('bob', 'Please do not kill yourself, call 988');
    const one = await at.asked();
    expect([one.personOnly, at.sent]).toEqual([true, []]);
    await E(at.granter).answer(one.id, { grant: {}, digest: one.digest });
    expect(await sending).toBe('sent');
    // A yes counts once: the same message waits again.
    const again = refused(E(mail).send('bob', 'Please do not kill yourself, call 988'));
    const two = await at.asked();
    expect(two.id).not.toBe(one.id);
    await E(at.granter).answer(two.id, { refuse: 'I will call', digest: two.digest });
    expect(await again).toMatchObject({ code: 'denied' });
    expect(at.sent.length).toBe(1);
    // The model may draft it on this machine.
    await E(await at.cap<FsCap>('notes')).write('draft.txt', 'Please do not kill yourself, call 988', { ifAbsent: true } as never).catch(() => {}); // biome-ignore format: one line
    await E(await at.cap<FsCap>('notes')).append('draft.txt', 'Please do not kill yourself, call 988');
    expect((await at.lines('call')).at(-1)).toMatchObject({ method: 'append', effect: 'B' });
  }
});

requires(
  'linux',
  'cc',
  'userns',
)(
  'dangerous terminal commands still preserve their pre-execution gate: a shell waits if its world can reach critical effects, and need not if it cannot, whatever the command says',
  async () => {
    const at = await world('enforce');
    const live = mkdtempSync(join(tmpdir(), 'hob-live-'));
    const production = await openFsCap(live);
    withEffects(production, () => ({ ...effectsOf(at.directory), write: { class: 'D', undo: 'impossible' } }));
    const [plain, grave, looks] = await Promise.all([
      makeShellCap({ mounts: { '/ws': at.directory } }),
      makeShellCap({ mounts: { '/ws': at.directory, '/live': production } }),
      makeShellCap({ mounts: { '/live': await production.readOnly() } }),
    ]);
    onTestFinished(async () => {
      for (const shell of [plain, grave, looks]) await shell.close();
      await production.close();
      rmSync(live, { recursive: true });
    });
    for (const [name, shell] of Object.entries({ plain, grave, looks })) {
      await at.host.offer(name, shell);
      await at.grant(name, name);
    }
    // Nothing of the text is judged: the dangerous one runs where nothing can be harmed, the harmless one waits.
    expect(await E(await at.cap<ShellCap>('plain')).run('rm -rf / --no-preserve-root 2>/dev/null; echo done')).toMatchObject({ stdout: 'done\n' }); // biome-ignore format: one line
    expect(await E(await at.cap<ShellCap>('looks')).run('echo looks')).toMatchObject({ status: 0 });
    const waiting = refused(E(await at.cap<ShellCap>('grave')).run('echo hello'));
    const asked = await at.asked();
    expect(asked.table).toContainEqual(['why it waits', expect.stringMatching(/critical/)]);
    await E(at.granter).answer(asked.id, { refuse: 'no', digest: asked.digest });
    expect(await waiting).toMatchObject({ code: 'denied' });
  },
);

test('clearly safe read-only tool calls are not slowed by unnecessary prompts', async () => {
  const at = await world('enforce');
  const [notes, mail] = [await at.cap<FsCap>('notes'), await at.cap<Mail>('mail')];
  await E(notes).write('a.txt', 'I want to kill myself');
  await Promise.all([E(notes).readText('a.txt'), E(notes).list(), E(notes).stat('a.txt'), E(notes).glob('*'), E(notes).search({ pattern: 'kill' }), E(mail).read()]); // biome-ignore format: one line
  expect(await E(at.granter).inbox()).toEqual([]);
  expect(await at.lines('request')).toEqual([]);
});

test('assessment traces can be inspected after a run', async () => {
  const at = await world('observe');
  const notes = await at.cap<FsCap>('notes');
  await E(notes).write('a.txt', 'words of the user');
  await E(notes).remove('a.txt', { recursive: true });
  const calls = await at.lines('call');
  expect(calls).toMatchObject([
    { method: 'write', risk: 0.35 },
    { method: 'remove', human: true },
  ]);
  expect(JSON.stringify(calls)).not.toContain('words of the user');
  expect(await replay(at.host.ledger())).toMatchObject({ calls: 2, asks: 1 });
  expect(await at.host.verify()).toMatchObject({ ok: true });
});

test('approval decisions remain session-safe across CLI and gateway contexts', async () => {
  const at = await world('enforce');
  await at.host.offer('bank', { pay: async (to: string) => `paid ${to}` }, { effects: { pay: { class: 'D' } } });
  const { granter: mallory, secret } = await at.host.addGranter('mallory');
  const other = await at.host.openSession({ name: 'other', granters: ['mallory'] });
  for (const [of, session] of [[at.granter, at.session], [mallory, other]] as const) await E(of).grant(session.id, 'bank', 'bank', { for: 60_000 }); // biome-ignore format: one line
  const { url } = await at.host.serve();
  const over = async <T extends object>(with_: string): Promise<Far<T>> => {
    const connection = await connect<T>(`${url}/beside`, { secret: with_ });
    onTestFinished(async () => {
      connection.close();
      await connection.closed;
    });
    return connection.bootstrap;
  };
  const pay = async (with_: string): Promise<unknown> => {
    const session = await over<SessionFace>(with_);
    return await (E(E(session).cap<{ pay(to: string): Promise<string> }>('bank')).pay('bob') as Promise<string>).catch((error) => error); // biome-ignore format: one line
  };
  const [mine, theirs] = [pay(at.session.secret), pay(other.secret)];
  const asked = await at.asked();
  // Another granter, in the program and over the wire, can neither see nor answer it; nor can the session itself.
  for (const wrong of [mallory, await over<Granter>(secret), await over<Granter>(at.session.secret)])
    expect(await refused(E(wrong).answer(asked.id, { grant: {}, digest: asked.digest }))).toMatchObject({ code: expect.stringMatching(/no-such-object|no-such-method/) }); // biome-ignore format: one line
  // The yes of one session is none for the same call of the other.
  const wire = await over<Granter>(at.granterSecret);
  await E(wire).answer(asked.id, { grant: {}, digest: asked.digest });
  expect(await mine).toBe('paid bob');
  const left = await at.asked(mallory);
  expect(left.session).toBe(other.id);
  await E(mallory).answer(left.id, { refuse: 'no', digest: left.digest });
  expect(await theirs).toMatchObject({ code: 'denied' });
  expect(await at.lines('approve')).toMatchObject([{ session: at.session.id, by: 'alice', surface: 'wire' }]);
});
