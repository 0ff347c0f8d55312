/** `hob status`: what is served, and which hosts use a store in a database. */
import type { DaemonStatus, WishRow } from '../../daemon/daemon.ts';
import { STATE, STORE } from '../../line/options.ts';
import { STORE_JSON } from '../../line/shapes.ts';
import { storeLines } from '../../line/store-lines.ts';
import { type Given, type Output, textOf, type Verb } from '../../line/verb.ts';

/** The states of a wish list in words. */
const STATES = { waits: 'not accepted', accepted: 'accepted', mistaken: 'not used, it has mistakes' } as const;

/** `hob status` */
export const status: Verb = {
  name: 'status',
  about: 'says which host serves the state, and how many requests wait. With --store: which hosts use the database',
  options: [STATE, STORE],
  examples: ['hob status', 'hob status --json', 'hob status --store ~/.config/hob/store.yaml'],
  json:
    '{ pid: number, manifest: string, layers: { layer: string, file: string }[], mode: string, url: string, since: number,\n' +
    '  sessions: number, requests: number, wishes: { name: string, state: "waits" | "accepted" | "mistaken" }[],\n' +
    `  store?: ${STORE_JSON} }, with --store only store`,
  codes: { 1: 'no host serves the state; with --store: no host has the database, or it does not answer' },
  hardened: true,
  async run(given, output) {
    return textOf(given, 'store') === undefined ? await served(given, output) : await inDatabase(given, output);
  },
};

async function served(given: Given, { line, json }: Output): Promise<number> {
  const { E } = await import('@hob/vat/peer');
  const { withDaemon } = await import('../../daemon/drivers/client.ts');
  const { allRequests, allSessions } = await import('../../daemon/find.ts');
  const { dateText } = await import('../../drivers/machine.ts');
  return await withDaemon(given, async ({ granter, daemon }) => {
    const { pid, manifest, layers, mode, url, since, store } = (await E(daemon).status()) as DaemonStatus;
    const [sessions, requests] = [(await allSessions(granter)).length, (await allRequests(granter)).length];
    line(`process ${pid} serves ${manifest}, in the mode ${mode}, since ${dateText(since)}`);
    line(`sessions: ${sessions}; requests that wait: ${requests}; address for agents: ${url}`);
    const wishes = ((await E(daemon).wishes()) as readonly WishRow[]).map(({ name, state }) => ({ name, state }));
    for (const { name, state } of wishes) line(`wish list ${name}: ${STATES[state]}; hob wishes shows it`);
    if (store !== undefined) for (const text of storeLines(store)) line(text);
    json({ pid, manifest, layers, mode, url, since, sessions, requests, wishes, ...(store && { store }) });
    return 0;
  });
}

/** Asks the database, so it works on a machine without a host, and on the machine of a standby. */
async function inDatabase(given: Given, { line, json }: Output): Promise<number> {
  const { hostsNamed } = await import('../../drivers/store-file.ts');
  const store = await hostsNamed(given);
  for (const text of storeLines(store)) line(text);
  json({ store });
  return store.holder === undefined ? 1 : 0;
}
