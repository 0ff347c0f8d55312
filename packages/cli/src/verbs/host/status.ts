/** `hob status`: what is served. */
import type { DaemonStatus, WishRow } from '../../daemon/daemon.ts';
import { STATE } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** The states of a wish list in words. */
const STATES = { waits: 'not accepted', accepted: 'accepted', mistaken: 'not used, it has mistakes' } as const;

/** `hob status` */
export const status: Verb = {
  name: 'status',
  about: 'says which host serves the state, and how many requests wait',
  options: [STATE],
  examples: ['hob status', 'hob status --json'],
  json:
    '{ pid: number, manifest: string, layers: { layer: string, file: string }[], mode: string, url: string, since: number,\n' +
    '  sessions: number, requests: number, wishes: { name: string, state: "waits" | "accepted" | "mistaken" }[] }',
  codes: { 1: 'no host serves the state' },
  hardened: true,
  async run(given, { line, json }) {
    const { E } = await import('@hob/vat');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    const { allRequests, allSessions } = await import('../../daemon/find.ts');
    const { dateText } = await import('../../drivers/machine.ts');
    return await withDaemon(given, async ({ granter, daemon }) => {
      const { pid, manifest, layers, mode, url, since } = (await E(daemon).status()) as DaemonStatus;
      const [sessions, requests] = [(await allSessions(granter)).length, (await allRequests(granter)).length];
      line(`process ${pid} serves ${manifest}, in the mode ${mode}, since ${dateText(since)}`);
      line(`sessions: ${sessions}; requests that wait: ${requests}; address for agents: ${url}`);
      const wishes = ((await E(daemon).wishes()) as readonly WishRow[]).map(({ name, state }) => ({ name, state }));
      for (const { name, state } of wishes) line(`wish list ${name}: ${STATES[state]}; hob wishes shows it`);
      json({ pid, manifest, layers, mode, url, since, sessions, requests, wishes });
      return 0;
    });
  },
};
