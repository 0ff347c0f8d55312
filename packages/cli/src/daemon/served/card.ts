/** The agent card. A host serves it to everybody who can reach its address, if its manifest says so. */
import { signAgentCard } from '@hob/a2a';
import type { HttpPages } from '@hob/host';
import type { Plan } from '@hob/manifest';
import { agentCard } from '../../drivers/card.ts';
import { Mistake } from '../../line/mistake.ts';

const PATH = '/.well-known/agent-card.json';

/** Returns no page without `serve: true`. The card is made once, when the host starts. Errors: `Mistake`, `invalid`. */
export async function servedCard({ a2a }: Plan, secret: (name: string) => string | undefined): Promise<HttpPages> {
  if (a2a?.serve !== true) return {};
  const card = agentCard(a2a);
  const key = a2a.key === undefined ? undefined : secret(a2a.key);
  if (a2a.key !== undefined && key === undefined)
    throw new Mistake(
      `a2a: there is no secret ${a2a.key}: store the key in PEM with hob secret set ${a2a.key} < card.pem`,
    );
  const signed = key === undefined ? card : await signAgentCard(card, key);
  return { [PATH]: { type: 'application/json', body: Buffer.from(JSON.stringify(signed)) } };
}
