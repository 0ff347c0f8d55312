/**
 * An agent that has used up a grant and asks for more. It waits until a person says yes or no.
 *
 *   HOB_URL=… npm run agent -- examples/ask-for-more.ts
 *
 * In another terminal the granter sees the request, reads it and approves it:
 *
 *   npm run hob -- inbox
 *   npm run hob -- inbox R1
 *   npm run hob -- grant R1
 */
import '@hob/host/lockdown';
import type { FsCap } from '@hob/caps-fs';
import type { AgentPowers, SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  await using connection = await connect<SessionFace>(url, { secret });
  const session = connection.bootstrap;
  say(`holds: ${JSON.stringify(await E(session).caps())}`);
  say('asking: for one more use of "once"');
  const once = E(session).request<FsCap>({
    asks: 'once',
    terms: { uses: 1, methods: ['list'] },
    why: 'to list src once more',
  });
  try {
    // `once` is still a promise. The call is sent now, and runs when the granter has said yes.
    say(`granted: ${JSON.stringify(await E(once).list('src'))}`);
  } catch (error) {
    say(`refused: ${(error as Error).message}`);
  }
}
