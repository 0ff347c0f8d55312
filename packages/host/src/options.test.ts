/** An option that nobody reads is refused, by the program's calls and by those that come over a wire. */
import { driver, E } from '@hob/vat';
import { expect, test } from 'vitest';
import { expectRefused } from '../../../test/misspelt.ts';
import { scene } from '../test/asking.ts';
import { held } from '../test/test-host.ts';
import { openHost } from './index.ts';

const A = 'a'.repeat(64);

test('an option of another name is refused everywhere, nothing is done, and the one that was meant is named', async () => {
  const { host, owner, agent, session, request, inbox, child } = await scene();
  const helper = await child('helper');
  const { id } = await E(owner).grant(session.id, 'text', 'notes', { uses: 3 });
  const start = { name: 'x', granter: 'owner', purpose: 'p', grants: [] };
  const grant = { petname: 'a', offer: 'notes', terms: {} };
  void request({}).catch(() => {});
  const [asked] = await inbox();
  const answer = (said: object): unknown => E(owner).answer(asked?.id ?? '', said as never);
  await host.offerCode(() => Promise.reject(new Error('no guests')));
  await E(owner).grant(session.id, 'run', 'code', {});
  const run = held<{ run(source: string, options?: object): unknown }>(agent, 'run');
  await expectRefused({
    openHost: [() => openHost({ stateDi: '/none' } as never), 'stateDi', 'stateDir'],
    openSession: [() => host.openSession({ name: 'y', granter: ['owner'] } as never), 'granter', 'granters'],
    ensureSession: [() => host.ensureSession({ name: 'y', parents: 'x' } as never), 'parents', 'parent'],
    startSession: [() => host.startSession({ ...start, frsh: true } as never), 'frsh', 'fresh'],
    'startSession, grants': [() => host.startSession({ ...start, grants: [grant as never] }), 'offer', 'offered'],
    offer: [() => host.offer('b', driver({}), { read: [] } as never), 'read', 'reads'],
    offerCode: [() => host.offerCode(() => Promise.reject(), { a: 'c' } as never), 'a', 'as'],
    serve: [() => host.serve({ prt: 1 } as never), 'prt', 'port'],
    serveGranter: [() => host.serveGranter({ path: '/none', daemn: {} } as never), 'daemn', 'daemon'],
    verify: [() => host.verify({ agains: [] } as never), 'agains', 'against'],
    kept: [() => host.kept({ what: 'set', sett: { A: 'b' }, by: 'a', surface: 's' } as never), 'sett', 'set'],
    ledger: [() => host.ledger({ folow: true } as never), 'folow', 'follow'],
    publish: [() => session.publish('text', { fr: 1 } as never), 'fr', 'for'],
    grant: [() => E(owner).grant(session.id, 'c', 'notes', { use: 1 } as never), 'use', 'uses'],
    accept: [() => E(owner).accept({ name: 'a', hash: A, has: A } as never), 'has', 'hash'],
    'grant, accepted': [
      () => E(owner).grant(session.id, 'c', 'notes', {}, { name: 'a', hash: A, nam: 'b' } as never),
      'nam',
      'name',
    ],
    delegate: [() => E(owner).delegate(session.id, 'text', helper.id, { use: 1 } as never), 'use', 'uses'],
    list: [() => E(owner).list({ sesion: session.id } as never), 'sesion', 'session'],
    sturdyrefs: [() => E(owner).sturdyrefs({ aftr: '' } as never), 'aftr', 'after'],
    revoke: [() => E(owner).revoke({ grants: id } as never), 'grants', 'grant'],
    narrow: [() => E(owner).narrow(id, { use: 1 } as never), 'use', 'uses'],
    mint: [() => E(owner).mint(session.id, 'text', { use: 1 } as never), 'use', 'uses'],
    'answer, yes': [() => answer({ grnt: {} }), 'grnt', 'grant'],
    'answer, no': [() => answer({ refuse: 'no', lastin: true }), 'lastin', 'lasting'],
    'answer, terms': [() => answer({ grant: { use: 1 } }), 'use', 'uses'],
    propose: [() => E(E(owner).judge()).propose(asked?.id ?? '', { use: 1 } as never, ''), 'use', 'uses'],
    request: [() => E(agent.bootstrap).request({ asks: 'notes', term: {} } as never), 'term', 'terms'],
    'request, terms': [() => request({ terms: { use: 1 } as never }), 'use', 'uses'],
    spawnChild: [() => E(agent.bootstrap).spawnChild({ name: 'z', cap: {} } as never), 'cap', 'caps'],
    'run of code': [() => E(run).run('return 1', { limit: {} }), 'limit', 'limits'],
  });
  // Nothing was granted, opened, answered or revoked by any of them.
  expect((await E(owner).list()).map(({ petname, state }) => [petname, state])).toEqual([
    ['text', 'live'],
    ['run', 'live'],
  ]);
  expect((await host.sessions()).map(({ name }) => name)).toEqual(['work', 'helper']);
  expect((await inbox()).map((still) => still.id)).toEqual([asked?.id]);
});

test('a revocation that names a grant and a session is refused: it could mean either', async () => {
  const { owner, session } = await scene();
  const { id } = await E(owner).grant(session.id, 'text', 'notes', {});
  await expect(E(owner).revoke({ grant: id, session: session.id } as never)).rejects.toMatchObject({ code: 'invalid' });
  expect((await E(owner).list()).map(({ state }) => state)).toEqual(['live']);
});
