/**
 * Writes `state-1`: the state of a host of 22 November 2026, before grants had an index by session and before names were reserved.
 *
 * Run it with the code of that day only (commit ae7830a): the folder is evidence, not something to make again.
 */
import '../src/programs/lockdown.ts';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import { type Grant, openHost, type SessionFace } from '../src/index.ts';

const folder = join(import.meta.dirname, 'state-1');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
let drawn = 0;
const random = (bytes: number): Uint8Array => {
  drawn += 1;
  return createHash('sha512').update(`golden ${drawn}`).digest().subarray(0, bytes);
};
const host = await openHost({ stateDir: folder, random });
await host.offer('bell', { ring: async () => 'ding' });
const { granter, secret: owner } = await host.addGranter('owner');
const { secret: stranger } = await host.addGranter('stranger');
const work = await host.openSession({ name: 'workspace', granters: ['owner'] });
const theirs = await host.openSession({ name: 'theirs', granters: ['stranger'] });
// Names that are reserved since.
const child = await host.openSession({ name: 'owner', granters: ['owner'], parent: work.id });
const approved = await host.openSession({ name: 'approved-by-owner', granters: ['owner'], parent: work.id });
const day = 86_400_000;
const give = (petname: string, terms: object): Promise<Grant> =>
  E(granter).grant(work.id, petname, 'bell', terms) as unknown as Promise<Grant>;
// For ten years, for whoever opens this later: renewed as far as it goes, the test uses a clock of its own.
const until = Date.now() + 89 * day;
for (let n = 0; n < 12; n += 1) await give(`p${n}`, { until, uses: 10 });
await E(granter).delegate(work.id, 'p0', child.id, { as: 'owner' });
await E(granter).delegate(work.id, 'p1', approved.id);
const revoked = await give('revoked', { until });
await E(granter).revoke({ grant: revoked.id }, 'enough');
await give('spent', { until, uses: 1 });
await E(granter).grant(work.id, 'gated', 'bell', { until, gated: true });
const { sturdyref } = (await E(granter).mint(work.id, 'p2')) as unknown as { readonly sturdyref: string };
const url = await work.publish('p3', { for: day });
const { url: door } = await host.serve();
const agent = await connect<SessionFace>(door, { secret: work.secret });
await E(E(agent.bootstrap).cap('spent') as Promise<{ ring(): Promise<string> }>).ring();
agent.close();
await agent.closed;
await host.close();
for (const name of readdirSync(folder))
  if (name !== 'store.db' && name !== 'ledger.key') rmSync(join(folder, name), { recursive: true });
const ids = { work: work.id, theirs: theirs.id, child: child.id, approved: approved.id };
const secrets = {
  owner,
  stranger,
  work: work.secret,
  theirs: theirs.secret,
  child: child.secret,
  approved: approved.secret,
  sturdyref,
};
writeFileSync(join(folder, 'facts.json'), `${JSON.stringify({ at: Date.now(), ids, secrets, url }, undefined, 2)}\n`);
