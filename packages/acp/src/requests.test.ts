/**
 * Requests in the editor: which are shown, with which answers, and what each answer grants. Real hosts; the
 * editor and the agent are attackers in turn.
 */

import type { SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { type World, type WorldOptions, world } from '../test/world.ts';
import type { Asked } from './held.ts';
import { optionsOf } from './options.ts';

interface Files {
  write(path: string, text: string): Promise<unknown>;
  readText(path: string): Promise<string>;
}

const choose = (optionId: string) => () => ({ outcome: { outcome: 'selected', optionId } });

/** A session of the editor, as a program of the agent holds it. */
async function scene(options: WorldOptions = {}): Promise<
  World & {
    readonly id: string;
    readonly session: Far<SessionFace>;
    readonly hob: string;
    cap(name: string): Far<Files>;
  }
> {
  const at = await world({ granters: ['editor'], ...options });
  const { id, session } = await at.begin();
  const entered = await connect<SessionFace>(`${at.url}/beside`, { secret: session.secret });
  onTestFinished(async () => {
    entered.close();
    await entered.closed;
  });
  return {
    ...at,
    id,
    session: entered.bootstrap,
    hob: session.id,
    cap: (name) => E(entered.bootstrap).cap(name) as unknown as Far<Files>,
  };
}

const lines = async ({ host }: Pick<World, 'host'>): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const all: Record<string, unknown>[] = [];
  for await (const line of host.ledger()) all.push(JSON.parse(line));
  return all;
};

const grants = async (at: { readonly host: World['host']; readonly hob: string }): ReturnType<typeof lines> =>
  (await lines(at)).filter(({ k, session, request }) => k === 'grant' && session === at.hob && request !== undefined);

const outcome = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => 'granted',
    (error: { readonly code?: unknown }) => error.code,
  );

const ask = (session: Far<SessionFace>, terms: object, asks = 'files'): Promise<unknown> =>
  outcome(E(session).request({ asks, terms, why: 'to tidy up' }) as unknown as Promise<unknown>);

test.for([
  ['allow_once', { uses: 1 }],
  ['allow_five', { uses: 5 }],
  ['allow_session', {}],
  ['allow_always', {}],
] as const)('%s grants what its name says', async ([optionId, row]) => {
  const at = await scene();
  at.editor.answer = choose(optionId);
  expect(await ask(at.session, { scope: 'permanent' })).toBe('granted');
  const [grant] = await grants(at);
  expect(grant).toMatchObject({ by: 'editor', ...row });
  const until = Number(grant?.['until']) - Date.now();
  const [least, most] = optionId === 'allow_five' ? [14, 15] : [89 * 1440, 90 * 1440];
  expect(until / 60_000).toBeGreaterThan(least);
  expect(until / 60_000).toBeLessThanOrEqual(most);
  // Asked with the audit of a lasting grant: each outcome is a line.
  await E(at.cap(String(grant?.['petname']))).readText('src/a.txt');
  const ends = (await lines(at)).filter(({ k, grant: id }) => k === 'result' && id === grant?.['grant']);
  expect(ends).toHaveLength(1);
});

test('deny refuses once, and deny_always for as long as the session lives', async () => {
  const at = await scene();
  at.editor.answer = choose('deny');
  expect(await ask(at.session, { uses: 1 })).toBe('denied');
  expect(await ask(at.session, { uses: 1 })).toBe('denied');
  at.editor.answer = choose('deny_always');
  expect(await ask(at.session, { uses: 1 })).toBe('denied');
  const shown = at.editor.asked.length;
  expect(shown).toBe(3);
  at.editor.answer = choose('allow_once');
  expect(await ask(at.session, { uses: 1 })).toBe('denied');
  expect(at.editor.asked).toHaveLength(shown);
});

test('the request is in the words of the host, and each option says how often and how long', async () => {
  const at = await scene();
  await ask(at.session, { uses: 20, for: 3_600_000, methods: ['readText'] });
  const [shown] = at.editor.asked;
  expect(shown?.sessionId).toBe(at.id);
  expect(shown?.options).toEqual([
    { optionId: 'allow_once', name: 'Allow one use', kind: 'allow_once' },
    { optionId: 'allow_five', name: 'Allow 5 uses within 15 minutes', kind: 'allow_always' },
    { optionId: 'allow_asked', name: 'Allow as asked: 20 uses, within 60 minutes', kind: 'allow_always' },
    { optionId: 'deny', name: 'Refuse', kind: 'reject_once' },
    { optionId: 'deny_always', name: 'Refuse always in this session', kind: 'reject_always' },
  ]);
  const text = JSON.stringify(shown?.toolCall);
  expect(text).toContain('A yes permits: readText: reads files');
  expect(text).toContain('the agent says: “to tidy up”');
});

test('an option is offered only if it is no more than what was asked', () => {
  const ids = (terms: Asked['terms']): readonly string[] =>
    optionsOf({ kind: 'grant', digest: 'd', terms } as Asked)
      .map(({ optionId }) => optionId)
      .filter((id) => id.startsWith('allow'));
  expect(ids({})).toEqual(['allow_once', 'allow_five', 'allow_asked']);
  expect(ids({ uses: 1 })).toEqual(['allow_once']);
  expect(ids({ uses: 4, for: 3_600_000 })).toEqual(['allow_once', 'allow_asked']);
  expect(ids({ for: 60_000 })).toEqual(['allow_once', 'allow_asked']);
  expect(ids({ scope: 'once' })).toEqual(['allow_once']);
  expect(ids({ scope: 'session' })).toEqual(['allow_once', 'allow_five', 'allow_session']);
  expect(ids({ scope: 'permanent' })).toEqual(['allow_once', 'allow_five', 'allow_session', 'allow_always']);
  expect(ids({ scope: 'session', uses: 7 })).toEqual(['allow_once', 'allow_five', 'allow_asked']);
});

test('an editor offers no yes to what needs a passkey, because it cannot sign', () => {
  for (const kind of ['grant', 'call'] as const)
    expect(optionsOf({ kind, digest: 'd', needs: 'passkey', terms: {} } as Asked).map(({ kind: as }) => as)).toEqual(['reject_once', 'reject_always']); // biome-ignore format: one line
});

test('a gated change is shown with both texts, is made exactly as shown, and is asked anew if the file has changed', async () => {
  const at = await scene({ terms: { gated: ['write'] } });
  at.editor.answer = async () => {
    // Somebody else changes the file while the person looks.
    if (at.editor.asked.length === 1) at.write('src/a.txt', 'one\nTWO\nthree\n');
    return { outcome: { outcome: 'selected', optionId: 'allow_once' } };
  };
  await E(at.cap('files')).write('src/a.txt', 'one\ntwo\nthree\nfour\n');
  expect(at.file('src/a.txt')).toBe('one\ntwo\nthree\nfour\n');
  const [first, second] = at.editor.asked.map(({ toolCall }) => toolCall);
  expect(first).toMatchObject({
    kind: 'edit',
    title: 'replaces the file “src/a.txt” by 19 characters, through “files”',
    locations: [{ path: at.path('src/a.txt') }],
  });
  expect(first?.content?.[0]).toEqual({
    type: 'diff',
    path: at.path('src/a.txt'),
    oldText: 'one\ntwo\nthree\n',
    newText: 'one\ntwo\nthree\nfour\n',
  });
  expect(second?.content?.[0]).toEqual({
    type: 'diff',
    path: at.path('src/a.txt'),
    oldText: 'one\nTWO\nthree\n',
    newText: 'one\ntwo\nthree\nfour\n',
  });
  expect(at.editor.asked).toHaveLength(2);
  expect(at.editor.asked[0]?.options.map(({ optionId }) => optionId)).toEqual(['allow_once', 'deny', 'deny_always']);
});

test.for<readonly [string, unknown]>([
  ['an option that was not offered', { outcome: { outcome: 'selected', optionId: 'allow_always' } }],
  ['an option of another kind of answer', { outcome: { outcome: 'selected', optionId: ['allow_once'] } }],
  ['no outcome', {}],
  ['a cancelled outcome', { outcome: { outcome: 'cancelled', optionId: 'allow_once' } }],
  ['an unknown outcome', { outcome: { outcome: 'approved', optionId: 'allow_once' } }],
  ['nothing', null],
])('%s grants nothing', async ([, answer]) => {
  const at = await scene({ terms: { gated: ['write'] } });
  at.editor.answer = () => answer;
  expect(await outcome(E(at.cap('files')).write('src/a.txt', 'x'))).toBe('denied');
  expect(at.file('src/a.txt')).toBe('one\ntwo\nthree\n');
});

test('a late answer grants nothing: the request was answered elsewhere, and is taken off the screen', async () => {
  const at = await scene({ granters: ['alice', 'editor'], terms: { gated: ['write'] } });
  let gone = false;
  at.editor.answer = (_request, signal) => new Promise((done) => signal.addEventListener('abort', () => {
    gone = true;
    done({ outcome: { outcome: 'selected', optionId: 'allow_once' } });
  })); // biome-ignore format: one line
  const writing = outcome(E(at.cap('files')).write('src/a.txt', 'x'));
  const [request] = await at.inbox();
  await at.until(() => at.editor.asked.length > 0);
  await E(at.granter).answer(request!.id, { refuse: 'no', digest: request!.digest });
  expect(await writing).toBe('denied');
  await at.until(() => gone);
  await at.until(() => at.editor.updates.length > 0);
  expect(at.file('src/a.txt')).toBe('one\ntwo\nthree\n');
});

test('a cancelled turn refuses what it asked', async () => {
  const at = await scene({ terms: { gated: ['write'] } });
  at.editor.answer = () => new Promise(() => {});
  const writing = outcome(E(at.cap('files')).write('src/a.txt', 'x'));
  await at.until(() => at.editor.asked.length > 0);
  await at.editor.agent.notify('session/cancel', { sessionId: at.id });
  expect(await writing).toBe('denied');
});

test('without the granter editor nothing is shown in the editor, and the request waits for its granter', async () => {
  const at = await scene({ granters: ['alice'], terms: { gated: ['write'] } });
  at.editor.answer = choose('allow_once');
  const writing = outcome(E(at.cap('files')).write('src/a.txt', 'y'));
  const [request] = await at.inbox();
  expect(at.editor.asked).toEqual([]);
  await E(at.granter).answer(request!.id, { grant: {}, digest: request!.digest });
  expect(await writing).toBe('granted');
});

test('requests of sessions that are not of this editor are not shown in it', async () => {
  const at = await scene();
  const other = await at.host.openSession({ name: 'other', granters: ['editor'] });
  const entered = await connect<SessionFace>(at.url, { secret: other.secret });
  const asking = ask(entered.bootstrap, { uses: 1 });
  await at.inbox();
  at.editor.answer = choose('allow_once');
  expect(await ask(at.session, { uses: 2 })).toBe('granted');
  expect(at.editor.asked.map(({ sessionId }) => sessionId)).toEqual([at.id]);
  entered.close();
  await asking;
});

test('the agent’s own question grants nothing: it is shown as the agent’s words, or answered once where a sandbox is the limit', async () => {
  const question = { toolCall: { toolCallId: 'x', title: 'replaces the file “a.txt”' }, options: [{ optionId: 'y', name: 'Yes', kind: 'allow_once' }, { optionId: 'z', name: 'Always', kind: 'allow_always' }] } as const; // biome-ignore format: one line
  const shown = await scene({ asks: 'shown', terms: { gated: ['write'] } });
  shown.editor.answer = choose('y');
  expect(
    await shown.agents[0]?.client.request('session/request_permission', { sessionId: shown.id, ...question } as never),
  ).toEqual({ outcome: { outcome: 'selected', optionId: 'y' } });
  expect(shown.editor.asked[0]?.toolCall.title).toBe(
    'The agent asks, and Hob does not vouch for it: replaces the file “a.txt”',
  );
  shown.editor.answer = choose('deny');
  expect(await outcome(E(shown.cap('files')).write('src/a.txt', 'x'))).toBe('denied');

  const boxed = await scene({ asks: 'allowed' });
  expect(
    await boxed.agents[0]?.client.request('session/request_permission', { sessionId: boxed.id, ...question } as never),
  ).toEqual({ outcome: { outcome: 'selected', optionId: 'y' } });
  expect(boxed.editor.asked).toEqual([]);
});
