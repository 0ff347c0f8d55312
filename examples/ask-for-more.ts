/**
 * An agent that has used something up and asks for more: it waits until a person says yes or no, and goes on with what it got.
 *
 *   HOB_URL=… npm run agent -- examples/ask-for-more.ts
 *   npm run hob -- requests          (in another terminal: the granter sees what is asked; then request ID, approve ID DIGEST)
 */
import { connect, E } from '@hob/vat';

interface Directory {
  list(path?: string): readonly string[];
}
interface SessionFace {
  caps(): readonly string[];
  request(ask: { readonly asks: string; readonly terms: object; readonly why: string }): Directory;
}

export default async function agent({
  url,
  secret,
  say,
}: {
  url: string;
  secret: string;
  say: (line: string) => void;
}): Promise<void> {
  const connection = await connect<SessionFace>(url, { secret });
  const session = connection.bootstrap;
  say(`holds: ${JSON.stringify(await E(session).caps())}`);
  say('asking: for one more use of "once"');
  const once = E(session).request({
    asks: 'once',
    terms: { uses: 1, methods: ['list'] },
    why: 'to list src once more',
  });
  try {
    // Sent before there is an answer: it waits with the promise.
    say(`granted: ${JSON.stringify(await E(once).list('src'))}`);
  } catch (error) {
    say(`refused: ${(error as Error).message}`);
  }
  connection.close();
  await connection.closed;
}
