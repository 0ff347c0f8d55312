/** The firewall in a real host: directories, a message to the outside, and a session that tries to get around it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { makeMessageCap } from '@hob/caps-net';
import { openHost } from '@hob/host';
import { E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { type CrisisDetector, detectCrisis } from './crisis/detect.ts';
import { type FirewallOptions, makeFirewall } from './firewall.ts';
import { replay } from './replay/replay.ts';

interface Mail {
  read(): Promise<string>;
  send(to: string, text: string): Promise<string>;
}

async function world(options: FirewallOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-firewall-'));
  const host = await openHost({ stateDir: join(folder, 'state'), firewall: makeFirewall(options) });
  const root = join(folder, 'root');
  const { mkdirSync } = await import('node:fs');
  mkdirSync(root);
  const directory = await openFsCap(root);
  onTestFinished(async () => {
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  const sent: string[] = [];
  const mail: Mail = {
    read: async () => 'no mail',
    send: async (to, text) => {
      sent.push(`${to}: ${text}`);
      return 'sent';
    },
  };
  await host.offer('notes', directory);
  await host.offer('mail', mail, { effects: { read: { class: 'A' }, send: { class: 'C', outbound: true } } });
  const { granter } = await host.addGranter('alice');
  const session = await host.openSession({ name: 'work', granters: ['alice'] });
  await E(granter).grant(session.id, 'notes', 'notes', { for: 60_000 });
  await E(granter).grant(session.id, 'mail', 'mail', { for: 60_000, level: 'high' });
  const asked = async () => {
    for (;;) {
      const [first] = await E(granter).inbox();
      if (first !== undefined) return first;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const calls = async (): Promise<readonly Record<string, unknown>[]> => {
    const lines: Record<string, unknown>[] = [];
    for await (const text of host.ledger()) {
      const line = JSON.parse(text) as Record<string, unknown>;
      if (line['k'] === 'call') lines.push(line);
    }
    return lines;
  };
  return { host, granter, session, asked, calls, sent, notes: await session.cap<typeof directory>('notes'), mail: await session.cap<Mail>('mail') }; // biome-ignore format: one line
}

test('under enforce, reading and writing in a directory go on, and a recursive removal waits', async () => {
  const at = await world({ mode: 'enforce' });
  await E(at.notes).write('a/b.txt', 'one', { parents: true });
  expect(await E(at.notes).readText('a/b.txt')).toBe('one');
  const removed = E(at.notes).remove('a', { recursive: true });
  const asked = await at.asked();
  expect(asked.table).toContainEqual(['why it waits', 'it may reach much at once']);
  expect(await E(at.notes).list()).toEqual(['a']);
  await E(at.granter).answer(asked.id, { grant: {}, digest: asked.digest });
  await removed;
  expect(await E(at.notes).list()).toEqual([]);
});

test('a message about a person in danger waits in both modes and at every level, in any disguise', async () => {
  for (const mode of ['observe', 'enforce'] as const) {
    const at = await world({ mode });
    expect(await E(at.mail).send('bob', 'The meeting is at three.')).toBe('sent');
    for (const text of ['Please call 911 now', 'k i l l  m y s e l f', JSON.stringify({ text: 'I want to die' })]) {
      const sending = E(at.mail).send('bob', text);
      sending.catch(() => {});
      const asked = await at.asked();
      await E(at.granter).answer(asked.id, { refuse: 'I will call', digest: asked.digest });
      await expect(sending).rejects.toMatchObject({ code: 'denied' });
    }
    expect(at.sent).toEqual(['bob: The meeting is at three.']);
  }
});

test('what answers a message about a person in danger waits, whatever its own text says; a draft of it goes on', async () => {
  let said: string | undefined = 'I took all the pills. Please do not tell anybody.';
  const seen: unknown[] = [];
  const crisis: CrisisDetector = (text, context) => {
    seen.push(context);
    return detectCrisis(text);
  };
  const at = await world({ mode: 'observe', crisis, incoming: () => said });
  await E(at.notes).write('draft.txt', 'The report will be there at noon.');
  const sending = E(at.mail).send('bob', 'The report will be there at noon.');
  const asked = await at.asked();
  expect(asked).toMatchObject({ personOnly: true, table: expect.arrayContaining([['why it waits', expect.stringMatching(/^the message that it answers: /)]]) }); // biome-ignore format: one line
  expect(seen[0]).toEqual({ session: at.session.id, petname: 'mail', method: 'send', incoming: said });
  await E(at.granter).answer(asked.id, { grant: {}, digest: asked.digest });
  expect(await sending).toBe('sent');
  said = 'See you at three';
  expect(await E(at.mail).send('bob', 'Fine.')).toBe('sent');
  // What is no text, or cannot be had, is no "no".
  said = 5 as never;
  const broken = E(at.mail).send('bob', 'Fine.');
  broken.catch(() => {});
  const { id, digest, table } = await at.asked();
  expect(table).toContainEqual(['why it waits', 'its text could not be judged']);
  await E(at.granter).answer(id, { refuse: 'no', digest });
  await expect(broken).rejects.toMatchObject({ code: 'denied' });
});

test('a file that goes with a message is judged as its text is; one that is longer than is read waits', async () => {
  const at = await world({ mode: 'observe' });
  const delivered: string[] = [];
  const bob = makeMessageCap({
    ...{ kind: 'mail', recipient: 'bob@example.com' },
    render: async (message) => Buffer.from(JSON.stringify(message)),
    deliver: async (_, { attachments }) => String(delivered.push(attachments.map(({ name }) => name).join(' '))),
  });
  await at.host.offer('bob', bob);
  await E(at.granter).grant(at.session.id, 'bob', 'bob', { for: 60_000, level: 'high' });
  const cap = await at.session.cap<typeof bob>('bob');
  const write = (name: string, data: string | Uint8Array) =>
    E(cap).draft('See the file.', { attachments: [{ name, data }] });
  await E(cap).send(await write('plan.txt', 'The meeting is at three.'));
  await E(cap).send(await write('picture.png', new Uint8Array([0x89, 0x50, 0xff, 0])));
  for (const [data, why] of [
    ['I took all the pills. Please do not tell anybody.', /./],
    [Buffer.from('I took all the pills. Please do not tell anybody.'), /./],
    ['The meeting is at three. '.repeat(1_000), /too large to be judged/],
  ] as const) {
    const sending = E(cap).send(await write('a.txt', data));
    sending.catch(() => {});
    const { id, digest, personOnly, table } = await at.asked();
    expect([personOnly, table]).toEqual([true, expect.arrayContaining([['why it waits', expect.stringMatching(why)]])]);
    await E(at.granter).answer(id, { refuse: 'I will call', digest });
    await expect(sending).rejects.toMatchObject({ code: 'denied' });
  }
  expect(delivered).toEqual(['plan.txt', 'picture.png']);
});

test('one answer never settles several messages about a person in danger', async () => {
  const at = await world({ mode: 'observe' });
  const text = 'Please call 911 now';
  const sending = ['bob', 'bob', 'bob', 'eve'].map((to) =>
    E(at.mail)
      .send(to, text)
      .catch((error) => error.code),
  );
  /** The two requests, once this many messages to bob wait. */
  const asked = async (toBob: number) => {
    for (;;) {
      const all = await E(at.granter).inbox();
      if (all.length === 2 && all.some(({ count }) => count === toBob)) return all;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  // Equal calls are one request in the inbox, and each yes sends one of them.
  const both = await asked(3);
  const several = both.map(({ id }) => id) as unknown as string;
  await expect(E(at.granter).answer(several, { grant: {} })).rejects.toMatchObject({ code: 'invalid' });
  const toBob = both.find(({ count }) => count === 3);
  await E(at.granter).answer(toBob!.id, { grant: {}, digest: toBob!.digest });
  expect(await Promise.any(sending)).toBe('sent');
  for (const { id, digest } of await asked(2)) await E(at.granter).answer(id, { refuse: 'I will call', digest });
  expect((await Promise.all(sending)).toSorted()).toEqual(['denied', 'denied', 'denied', 'sent']);
  expect(at.sent).toEqual([`bob: ${text}`]);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['returns a promise', async () => ({ sensitive: false, why: '' })],
  ['misspells its answer', () => ({ sensitve: true, why: '' })],
] as const)('a detector that %s makes what leaves wait, and nothing else', async (_how, crisis) => {
  const at = await world({ mode: 'observe', crisis: crisis as never });
  await E(at.notes).write('a.txt', 'one');
  const sending = E(at.mail).send('bob', 'hello');
  sending.catch(() => {});
  const asked = await at.asked();
  expect(asked.table).toContainEqual(['why it waits', 'its text could not be judged']);
  await E(at.granter).answer(asked.id, { refuse: 'no', digest: asked.digest });
  await expect(sending).rejects.toMatchObject({ code: 'denied' });
});

test('every call has its assessment in the ledger, without a word of its arguments; a replay counts them', async () => {
  const at = await world({ mode: 'observe' });
  await E(at.notes).write('a.txt', 'secret words');
  await E(at.notes).readText('a.txt');
  await E(at.notes).remove('a.txt', { recursive: true });
  const calls = await at.calls();
  expect(calls).toMatchObject([
    { method: 'write', risk: 0.35, sure: 0.9, effect: 'B', pattern: 'confidence_threshold' },
    { method: 'readText', risk: 0.2, effect: 'A' },
    { method: 'remove', effect: 'B', human: true },
  ]);
  expect(JSON.stringify(calls)).not.toContain('secret words');
  expect(await replay(at.host.ledger())).toMatchObject({ calls: 3, asks: 1, byClass: { B: { calls: 2, asks: 1 } } });
});

test('the same reading is warned of, and the sixth is answered without being sent, until a person has a turn', async () => {
  const at = await world({ mode: 'observe' });
  await E(at.notes).write('a.txt', 'one');
  const read = (): Promise<unknown> =>
    E(at.notes)
      .readText('a.txt')
      .catch((error) => error);
  for (let n = 0; n < 5; n += 1) expect(await read()).toBe('one');
  expect(await read()).toMatchObject({
    code: 'limit',
    message: expect.stringContaining('has returned the same 5 times'),
  });
  // Another method resets nothing, and other arguments go on.
  await E(at.notes).write('b.txt', 'two');
  expect(await E(at.notes).readText('b.txt')).toBe('two');
  expect(await read()).toMatchObject({ code: 'limit' });
  await at.session.personTurn();
  expect(await read()).toBe('one');
});

test('a firewall takes no option that it does not know', () => {
  expect(() => makeFirewall({ mode: 'enforce', modes: 1 } as never)).toThrow(/modes/);
});
