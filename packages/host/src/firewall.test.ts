/**
 * The port of the firewall: it sees each call once, whichever way it came, and only ever makes stricter. Over real
 * CapTP; the agent is the attacker.
 */
import { rmSync } from 'node:fs';
import type { FsCap } from '@hob/caps-fs';
import { CapError, E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { later, type Scene, scene } from '../test/asking.ts';
import { code, held, lines, scratch } from '../test/test-host.ts';
import { type CallDecision, type CallFacts, type CallFirewall, openHost, type SessionFace } from './index.ts';

const goesOn: CallDecision = { waits: false, trace: { risk: 0.1 }, reasons: [] };
const waits: CallDecision = { waits: true, trace: { risk: 0.9 }, reasons: ['the test says so'] };

/** A firewall that notes what it is asked. */
function noting(decide: (call: CallFacts) => CallDecision): CallFirewall & { readonly seen: CallFacts[] } {
  const seen: CallFacts[] = [];
  return {
    seen,
    decide(call) {
      seen.push(call);
      return decide(call);
    },
  };
}

async function granted(at: Scene, petname: string, terms: object = {}): Promise<Far<FsCap>> {
  await E(at.owner).grant(at.session.id, petname, 'notes', { for: 60_000, ...terms });
  return held<FsCap>(at.agent, petname);
}

test('a call that goes on has its assessment in the line that authorised it', async () => {
  const firewall = noting(() => goesOn);
  const at = await scene({ firewall });
  const cap = await granted(at, 'work');
  await E(cap).write('a.txt', 'one');
  expect(firewall.seen).toMatchObject([
    { session: at.session.id, petname: 'work', offer: 'notes', method: 'write', args: ['a.txt', 'one'], level: 'medium', waits: false }, // biome-ignore format: one line
  ]);
  expect(firewall.seen[0]?.effects?.['write']).toEqual({ class: 'B', undo: 'hard' });
  expect(await lines(at.host, 'call')).toMatchObject([{ grant: firewall.seen[0]?.grant, risk: 0.1 }]);
});

test('a call for a person alone stays theirs when it is asked anew, because the file changed after the yes', async () => {
  const at = await scene({ firewall: noting(() => ({ ...waits, personOnly: true })) });
  const file = { version: 'v1', text: 'one\n' };
  await at.host.offer('racing', {
    stat: async () => ({ kind: 'file', size: file.text.length, version: file.version, mtime: 0 }),
    readText: async () => file.text,
    list: async () => ['a.txt'],
    edit: async () => ({}),
    write: async (...args: readonly unknown[]) => {
      // The attacker is faster than the answer.
      if (file.version === 'v1') Object.assign(file, { version: 'v2', text: 'theirs\n' });
      const wanted = (args[2] as { version?: string } | undefined)?.version;
      if (wanted !== file.version) throw Object.assign(new Error('changed'), { code: 'STALE' });
    },
  });
  await E(at.owner).grant(at.session.id, 'racing', 'racing', { gated: true });
  const written = E(held<FsCap>(at.agent, 'racing')).write('a.txt', 'mine\n');
  const judge = E(at.owner).judge();
  const [asked] = await at.inbox();
  expect([asked?.personOnly, await E(judge).inbox()]).toEqual([true, []]);
  await at.answer(asked!, { grant: {} });
  const [anew] = await at.inbox();
  expect([anew?.personOnly, anew?.stale, await E(judge).inbox()]).toEqual([true, asked!.id, []]);
  await at.answer(anew!, { grant: {} });
  await written;
});

test('a call that waits is shown with its reason; it goes on after a yes, and not after a no', async () => {
  const at = await scene({ firewall: noting(({ method }) => (method === 'write' ? waits : goesOn)) });
  const cap = await granted(at, 'work');
  const written = E(cap).write('a.txt', 'one');
  const [asked] = await at.inbox();
  expect(asked?.table).toContainEqual(['why it waits', 'the test says so']);
  await at.answer(asked!, { grant: {} });
  await written;
  expect(at.file('a.txt')).toBe('one');
  const again = later(E(cap).write('a.txt', 'two'));
  const [second] = await at.inbox();
  await at.answer(second!, { refuse: 'no' });
  expect(await code(again)).toBe('denied');
  expect(at.file('a.txt')).toBe('one');
});

test('a call that waits ends with its grant', async () => {
  const at = await scene({ firewall: noting(() => waits) });
  const cap = await granted(at, 'work');
  const written = later(E(cap).write('a.txt', 'one'));
  await at.inbox();
  const [grant] = (await E(at.owner).list()) as readonly { readonly id: string }[];
  await E(at.owner).revoke({ grant: grant!.id } as never);
  expect(await code(written)).toBe('revoked');
  expect(() => at.file('a.txt')).toThrow(/ENOENT/);
});

test('a call of a child session is assessed once, and waits as its parent’s would', async () => {
  const firewall = noting(() => waits);
  const at = await scene({ firewall });
  await granted(at, 'work');
  const child = await at.child('helper', { work: 'work' });
  const helper = await at.enterAs<SessionFace>(child.secret);
  const written = later(E(held<FsCap>(helper, 'work')).write('a.txt', 'one'));
  const [asked] = await at.inbox();
  expect(firewall.seen).toHaveLength(1);
  expect(asked?.asker).toHaveLength(2);
  await at.answer(asked!, { refuse: 'no' });
  expect(await code(written)).toBe('denied');
});

test('a firewall is not asked about a call that the grant refuses', async () => {
  const firewall = noting(() => goesOn);
  const at = await scene({ firewall });
  const cap = await granted(at, 'work', { methods: ['readText'] });
  expect(await code(E(cap).write('a.txt', 'one'))).toBe('no-such-method');
  expect(firewall.seen).toEqual([]);
});

test('a firewall that fails makes the call wait; one that refuses costs no use', async () => {
  const failing = await scene({
    firewall: noting(() => {
      throw new TypeError('broken');
    }),
  });
  const cap = await granted(failing, 'work', { uses: 1 });
  const written = later(E(cap).write('a.txt', 'one'));
  const [asked] = await failing.inbox();
  expect(JSON.stringify(asked)).not.toContain('broken');
  await failing.answer(asked!, { refuse: 'no' });
  expect(await code(written)).toBe('denied');
  let refuses = true;
  const refusing = await scene({
    firewall: noting(() => {
      if (refuses) throw new CapError('denied', 'stop here');
      return goesOn;
    }),
  });
  const counted = await granted(refusing, 'work', { uses: 1 });
  expect(await code(E(counted).write('a.txt', 'one'))).toBe('denied');
  refuses = false;
  expect(await code(E(counted).write('a.txt', 'one'))).toBe('ok');
});

test('arguments that could change after an approval never wait for one, cost no use and are no call in the ledger', async () => {
  const at = await scene({ firewall: noting(() => waits) });
  const cap = await granted(at, 'work', { uses: 1 });
  for (const what of [new Promise<string>(() => {}), cap, { deep: [cap] }])
    expect(await code(E(cap).write('a.txt', what as never))).toBe('invalid');
  expect((await at.inbox(0)).length).toBe(0);
  // They cost nothing: the one use is there for a call that can wait.
  const written = E(cap).write('a.txt', 'one');
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  await written;
  expect(await lines(at.host, 'call')).toHaveLength(1);
});

test('a grant that was made before there was a firewall is guarded by the next host on the state', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const firewall = noting(() => goesOn);
  const notes = (): object => ({ write: async () => 'written' });
  const first = await openHost({ stateDir: folder });
  await first.offer('notes', notes());
  const { granter } = await first.addGranter('owner');
  const { id } = await first.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(id, 'work', 'notes', { until: Date.now() + 60_000 });
  await first.close();
  await using second = await openHost({ stateDir: folder, firewall });
  await second.offer('notes', notes());
  const cap = await (await second.session(id)).cap<{ write(): Promise<string> }>('work');
  expect(await E(cap).write()).toBe('written');
  expect(firewall.seen).toMatchObject([{ session: id, method: 'write' }]);
});

test('a call that the terms make wait is asked about once', async () => {
  const firewall = noting(() => waits);
  const at = await scene({ firewall });
  const cap = await granted(at, 'work', { gated: ['write'] });
  const written = E(cap).write('a.txt', 'one');
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  await written;
  expect(at.file('a.txt')).toBe('one');
  expect(firewall.seen).toMatchObject([{ waits: true }]);
});

test('a decision that is none makes the call wait: a promise, a misspelt or missing field', async () => {
  const decisions: unknown[] = [
    Promise.resolve(goesOn),
    { wait: true, trace: {}, reasons: [] },
    { waits: false, reasons: [] },
    { waits: false, trace: {} },
    undefined,
  ];
  const at = await scene({ firewall: noting(() => decisions.shift() as CallDecision) });
  const cap = await granted(at, 'work');
  for (let count = decisions.length; count > 0; count -= 1) {
    const written = later(E(cap).write('a.txt', 'one'));
    const [asked] = await at.inbox();
    expect(JSON.stringify(asked?.table)).toContain('the assessment of the call failed');
    await at.answer(asked!, { refuse: 'no' });
    expect(await code(written)).toBe('denied');
  }
});

test('a level is a term: an approval never raises it', async () => {
  const firewall = noting(() => goesOn);
  const at = await scene({ firewall });
  const asking = at.request({ terms: { level: 'low', for: 60_000 } });
  const [asked] = await at.inbox();
  expect(JSON.stringify(asked?.table)).toContain('calls of low risk at the most');
  expect(await code(at.answer(asked!, { grant: { level: 'high', for: 60_000 } }))).toBe('invalid');
  await at.answer(asked!, { grant: { for: 60_000 } });
  await E(await asking).write('a.txt', 'one');
  expect(firewall.seen).toMatchObject([{ level: 'low' }]);
  expect(await code(E(at.owner).grant(at.session.id, 'odd', 'notes', { level: 'none' as never }))).toBe('invalid');
});

test('the level of a grant holds for a child, too, that asked for it through a cap that it was given', async () => {
  const firewall = noting(() => goesOn);
  const at = await scene({ firewall });
  await E(at.owner).grant(at.session.id, 'push', 'notes', { scope: 'session', asks: { level: 'low', uses: 2 } });
  const child = await at.child('helper', { push: 'push' });
  const helper = await at.enterAs<SessionFace>(child.secret);
  const written = E(held<FsCap>(helper, 'push')).write('a.txt', 'one');
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: { level: 'low', uses: 2 } });
  await written;
  await E(held<FsCap>(helper, 'push')).write('a.txt', 'two');
  expect(firewall.seen.map(({ level, args }) => [level, args[1]])).toEqual([
    ['low', 'one'],
    ['low', 'two'],
  ]);
});
