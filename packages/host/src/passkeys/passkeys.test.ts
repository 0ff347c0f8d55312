/** Yeses that need a passkey, over real CapTP. The attacker has the connection of the granter, and no passkey. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { deep } from '../../../../test/depth.ts';
import { requires } from '../../../../test/needs.ts';
import { later, type Scene, scene } from '../../test/asking.ts';
import { Authenticator, type SignOptions } from '../../test/authenticator.ts';
import { code, held, lines } from '../../test/test-host.ts';
import { type Granter, type NewPasskey, openFrontDoor, openHost, type PasskeyProof, type Request } from '../index.ts';
import { challengeOf } from '../webauthn/proof.ts';

interface World extends Scene {
  readonly origin: string;
  /** A new challenge for one change. */
  challenge(change: 'new' | 'add' | 'remove', of?: Far<Granter>): Promise<string>;
  add(key: Authenticator, by?: Authenticator): Promise<unknown>;
  /** The agent writes, which waits. */
  ask(text: string): Promise<{ readonly request: Request; readonly written: Promise<unknown> }>;
}

/** A scene whose offer `safe` is the directory, with a passkey for each yes. */
async function world(): Promise<World> {
  const at = await scene();
  const dir = await openFsCap(join(at.folder, 'root'));
  onTestFinished(() => dir.close());
  await at.host.offer('safe', dir, { needs: 'passkey' });
  const program = await at.host.granter('owner');
  await E(program).grant(at.session.id, 'safe', 'safe', { gated: ['write'] });
  const cap = await held<FsCap>(at.agent, 'safe');
  const origin = at.url.replace('ws:', 'http:').replace('127.0.0.1', 'localhost');
  const challenge: World['challenge'] = async (change, of = at.owner) =>
    (await E(E(of).passkeys()).challenge(change)).challenge;
  return {
    ...at,
    origin,
    challenge,
    async add(key, by) {
      const made = key.make(await challenge('new'), { origin });
      const proof = by === undefined ? [] : [by.sign(await challenge('add'), { origin })];
      return await E(E(at.owner).passkeys()).add(made, ...(proof as [PasskeyProof]));
    },
    async ask(text) {
      const written = later(E(cap).write('a.txt', text));
      const request = (await at.inbox()).find(({ asks }) => asks === 'safe') as Request;
      return { request, written };
    },
  };
}

const yes = (
  at: World,
  { id, digest }: Request,
  passkey?: PasskeyProof,
  of: Far<Granter> = at.owner,
): Promise<unknown> => E(of).answer(id, { grant: {}, digest, ...(passkey && { passkey }) }) as Promise<unknown>;

test('a yes needs a signature by a passkey of the granter for this request; a no needs none', async () => {
  const at = await world();
  const key = new Authenticator();
  const { request, written } = await at.ask('one');
  expect(request.needs).toBe('passkey');
  expect(request.table).toContainEqual(['a yes needs', 'a passkey, on the page that hob console opens']);
  expect(await code(yes(at, request))).toBe('denied');
  expect(await code(yes(at, request, key.sign(challengeOf(request), at)))).toBe('denied');
  await at.add(key);
  await yes(at, request, key.sign(challengeOf(request), at));
  await written;
  expect(at.file('a.txt')).toBe('one');
  const second = await at.ask('two');
  await E(at.owner).answer(second.request.id, { refuse: 'no', digest: second.request.digest });
  expect(await code(second.written)).toBe('denied');
  const approved = (await lines(at.host, 'approve')).at(-1);
  expect(approved).toMatchObject({ passkey: key.id, by: 'owner' });
  expect(await lines(at.host, 'passkey')).toMatchObject([{ what: 'add', granter: 'owner', passkey: key.id }]);
});

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a passkey that signs with %s is taken, one that counts and one that does not', async (kind) => {
  const at = await world();
  const [counts, silent] = [new Authenticator(kind), new Authenticator(kind, { counts: false })];
  await at.add(counts);
  await at.add(silent, counts);
  for (const [n, key] of [counts, silent, silent, counts].entries()) {
    const { request, written } = await at.ask(`${n}`);
    await yes(at, request, key.sign(challengeOf(request), at));
    await written;
  }
  expect(at.file('a.txt')).toBe('3');
}); // biome-ignore format: pairs

const base64url = (text: string): string => Buffer.from(text, 'utf8').toString('base64url');

test('a signature for something else, of elsewhere, without the person, or by another key is no yes', async () => {
  const at = await world();
  const [key, other] = [new Authenticator(), new Authenticator()];
  await at.add(key);
  const first = await at.ask('one');
  const stolen = key.sign(challengeOf(first.request), at);
  await yes(at, first.request, stolen);
  await first.written;
  at.write('a.txt', '');
  // The same call once more has the same digest, or another; it never has the same id.
  const { request, written } = await at.ask('one');
  const right = challengeOf(request);
  const { origin } = at;
  const elsewhere = origin.replace('localhost', 'evil.example');
  const bad: readonly (readonly [string, PasskeyProof])[] = [
    ['of an earlier yes', stolen],
    ['for another request', key.sign(challengeOf({ ...request, id: 'q999-aaaa' }), at)],
    ['for another digest', key.sign(challengeOf({ ...request, digest: first.request.id }), at)],
    ['for the digest alone', key.sign(request.digest, at)],
    ['for a change', key.sign(await at.challenge('add'), at)],
    ['on another page', key.sign(right, { origin: elsewhere })],
    ['on another page, for this place', key.sign(right, { origin: elsewhere, rpId: 'localhost' })],
    ['for another place', key.sign(right, { origin, rpId: 'evil.example' })],
    ['on another port', key.sign(right, { origin: 'http://localhost:1' })],
    ['in a frame', key.sign(right, { origin, client: { crossOrigin: true } })],
    ['in a frame, as browsers say it now', key.sign(right, { origin, client: { topOrigin: elsewhere } })],
    ['when it was made', key.sign(right, { origin, type: 'webauthn.create' })],
    ['without the person', key.sign(right, { origin, flags: 0x04 })],
    ['without the check of the person', key.sign(right, { origin, flags: 0x01 })],
    ['by another key', other.sign(right, at)],
    ['by another key, under the name of this one', { ...other.sign(right, at), id: key.id }],
    ['with the parts of another', { ...key.sign(right, at), signature: stolen.signature }],
    ['of nothing', { id: key.id, clientData: '', authenticatorData: '', signature: '' }],
    ...['null', '7', '[]', '{'].map((text) => [`about ${text}`, { ...stolen, clientData: base64url(text) }] as const),
  ];
  for (const [what, proof] of bad) expect([what, await code(yes(at, request, proof))]).toEqual([what, 'denied']);
  for (const proof of [null, {}, 'text', { ...stolen, more: 1 }, { ...stolen, id: 7 }])
    expect(await code(yes(at, request, proof as never))).toMatch(/^(?:invalid|denied)$/);
  expect(at.file('a.txt')).toBe('');
  await yes(at, request, key.sign(right, at));
  await written;
  expect(at.file('a.txt')).toBe('one');
});

test('a signature with a number that was there before is refused: the passkey may have been copied', async () => {
  const at = await world();
  const key = new Authenticator();
  await at.add(key);
  const { request, written } = await at.ask('one');
  const early = key.sign(challengeOf(request), at);
  const second = await at.challenge('remove');
  key.sign(second, at);
  const used = key.sign(second, at);
  // A change that is refused notes nothing; one that is made does.
  expect(await code(E(E(at.owner).passkeys()).remove('nothing', used))).toBe('no-such-object');
  await yes(at, request, early);
  await written;
  const next = await at.ask('two');
  key.counter = 1;
  expect(await code(yes(at, next.request, key.sign(challengeOf(next.request), at)))).toBe('denied');
  key.counter = 20;
  await yes(at, next.request, key.sign(challengeOf(next.request), at));
  await next.written;
});

test('the first passkey is added by the granter, each other change needs one that is there', async () => {
  const at = await world();
  const [key, second, thief] = [new Authenticator(), new Authenticator(), new Authenticator()];
  await at.add(key);
  const passkeys = E(at.owner).passkeys();
  expect(await code(at.add(thief))).toBe('denied');
  expect(await code(at.add(thief, thief))).toBe('denied');
  const { origin } = at;
  // A proof that was made to remove one adds none, and a challenge is good once.
  const made = async (): Promise<NewPasskey> => thief.make(await at.challenge('new'), { origin });
  expect(await code(E(passkeys).add(await made(), key.sign(await at.challenge('remove'), at)))).toBe('denied');
  expect(await code(E(passkeys).add(await made(), key.sign('add made up', at)))).toBe('denied');
  const once = await at.challenge('add');
  await E(passkeys).add(second.make(await at.challenge('new'), { origin }), key.sign(once, at));
  expect(await code(E(passkeys).add(await made(), key.sign(once, at)))).toBe('denied');
  const again = await at.challenge('new');
  expect(await code(E(passkeys).add({ ...thief.make(again, { origin }), publicKey: 'AAAA' }, key.sign(await at.challenge('add'), at)))).toBe('invalid'); // biome-ignore format: one line
  expect(await code(E(passkeys).add(thief.make(again, { origin }), key.sign(await at.challenge('add'), at)))).toBe('invalid'); // biome-ignore format: one line
  expect((await E(passkeys).list()).map(({ id }) => id)).toEqual([key.id, second.id]);
  expect(await code(E(passkeys).remove(key.id, thief.sign(await at.challenge('remove'), at)))).toBe('denied');
  await E(passkeys).remove(key.id, second.sign(await at.challenge('remove'), at));
  const { request, written } = await at.ask('one');
  expect(await code(yes(at, request, key.sign(challengeOf(request), at)))).toBe('denied');
  await yes(at, request, second.sign(challengeOf(request), at));
  await written;
});

test('a granter has the passkeys of no other one, and no session has any', async () => {
  const at = await world();
  const key = new Authenticator();
  await at.add(key);
  const { secret } = await at.host.ensureGranter('bob');
  const bob = (await at.enterAs<Granter>(secret as string)).bootstrap;
  expect(await E(E(bob).passkeys()).list()).toEqual([]);
  // A challenge of the one is none of the other.
  const made = key.make(await at.challenge('new'), at);
  expect(await code(E(E(bob).passkeys()).add(made))).toBe('invalid');
  expect(await code((E(at.agent.bootstrap) as never as Record<string, () => Promise<unknown>>)['passkeys']?.() as Promise<unknown>)).toBe('no-such-method'); // biome-ignore format: one line
});

test('nobody grants or renews by hand what needs a passkey, and a session that asks anew gets it only with one', async () => {
  const at = await world();
  const key = new Authenticator();
  await at.add(key);
  expect(await code(E(at.owner).grant(at.session.id, 'mine', 'safe', { uses: 1 }))).toBe('denied');
  const [grant] = (await E(at.owner).list()).filter(({ petname }) => petname === 'safe');
  expect(await code(E(at.owner).renew(grant?.id as string, Date.now() + 7_200_000))).toBe('denied');
  const asked = later(at.request({ asks: 'safe', terms: { uses: 1 } }));
  const [request] = await at.inbox();
  expect(request?.needs).toBe('passkey');
  const { id, digest, challenge = '' } = request as Request;
  expect(await code(E(at.owner).answer(id, { grant: { uses: 1 }, digest }))).toBe('denied');
  await E(at.owner).answer(id, { grant: { uses: 1 }, digest, passkey: key.sign(challenge, at) });
  await asked;
});

test('passkeys and their numbers outlive the host', async () => {
  const at = await world();
  const key = new Authenticator();
  await at.add(key);
  const { request, written } = await at.ask('one');
  await yes(at, request, key.sign(challengeOf(request), at));
  await written;
  await at.host.close();
  const again = await openHost({ stateDir: join(at.folder, 'state') });
  onTestFinished(() => again.close());
  expect((await E(E(await again.granter('owner')).passkeys()).list()).map(({ id }) => id)).toEqual([key.id]);
});

requires('linux')(
  'after its host has moved to another machine, a passkey works if both doors have the name and the port of the page',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hob-moved-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    /** Serves the state as one machine does: at its own address and name, and at the name that all machines share. */
    const machine = async (host: string, own: string, port: number) => {
      const opened = await openHost({ stateDir: join(folder, 'state') });
      const front = await openFrontDoor({ host, port, tls: certificate('hob.example'), names: ['hob.example', own] });
      const close = async (): Promise<void> => {
        await opened.close();
        await front.close();
      };
      onTestFinished(close);
      const { granter } = (await opened.ensureGranter('ann')) as { readonly granter: Far<Granter> };
      await opened.serve({ front, name: 'acme' });
      const { port: now } = new URL(front.url);
      const challenge = async (change: 'new' | 'add'): Promise<string> => (await E(E(granter).passkeys()).challenge(change)).challenge; // biome-ignore format: one line
      return { granter, close, challenge, port: Number(now), page: (name: string) => ({ origin: `https://${name}:${now}` }) }; // biome-ignore format: one line
    };
    const [key, second] = [new Authenticator(), new Authenticator()];
    const alpha = await machine('127.0.0.1', 'alpha.example', 0);
    await E(E(alpha.granter).passkeys()).add(key.make(await alpha.challenge('new'), alpha.page('hob.example')));
    await alpha.close();
    const beta = await machine('127.0.0.2', 'beta.example', alpha.port);
    const added = async (page: SignOptions): Promise<unknown> =>
    E(E(beta.granter).passkeys()).add(second.make(await beta.challenge('new'), page), key.sign(await beta.challenge('add'), page)); // biome-ignore format: one line
    expect(await code(added(beta.page('alpha.example')))).toBe('invalid');
    expect(await code(added(beta.page('hob.example')))).toBe('ok');
  },
);

test('whatever bytes a proof has, only a whole one is a yes', async () => {
  const at = await world();
  const key = new Authenticator('EdDSA', { counts: false });
  await at.add(key);
  const { request, written } = await at.ask('one');
  const good = key.sign(challengeOf(request), at);
  const parts = ['clientData', 'authenticatorData', 'signature'] as const;
  const bitten = fc.tuple(fc.constantFrom(...parts), fc.nat(), fc.integer({ min: 1, max: 255 }));
  await fc.assert(
    fc.asyncProperty(bitten, async ([part, where, by]) => {
      const bytes = Buffer.from(good[part], 'base64url');
      bytes[where % bytes.length] = (bytes[where % bytes.length] ?? 0) ^ by;
      expect(await code(yes(at, request, { ...good, [part]: bytes.toString('base64url') }))).toBe('denied');
    }),
    { numRuns: deep ? 1_500 : 60 },
  );
  await yes(at, request, good);
  await written;
});
