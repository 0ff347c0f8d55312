/**
 * An agent that writes programs and runs them over the caps of its session. A program sees those caps and nothing else.
 *
 *   npm start -- --code
 *   HOB_URL=… npm run agent -- examples/run-code.ts
 */
import '@hob/host/lockdown';
import type { AgentPowers, Code, SessionFace } from '@hob/host';
import { type CapError, connect, E } from '@hob/vat';

/** Three programs as a model writes them. */
const COUNT = `
let lines = 0;
for (const path of await E(workspace).glob('**/*.txt'))
  lines += (await E(workspace).readText(path)).split('\\n').length - 1;
console.log('read all of it');
return { lines, finds: Object.keys(caps) };`;

const REACHES = `
return ['process', 'require', 'fetch', 'module', 'Buffer'].filter((name) => name in globalThis);`;

const FAILS = `
const text = await E(workspace).readText('notes.txt');
text.trimm();`;

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  await using connection = await connect<SessionFace>(url, { secret });
  const code = E(connection.bootstrap).cap<Code>('code');
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      say(`${name}: ${JSON.stringify(await work())}`);
    } catch (error) {
      const { code: why, message } = error as CapError;
      say(`${name}: refused: ${why}: ${message}`);
    }
  };
  await step('finds', async () => /declare const workspace: \w+/.exec(await E(code).types())?.[0]);
  await step('counts', async () => (await E(E(code).run(COUNT)).result()).value);
  await step('reaches', async () => (await E(E(code).run(REACHES)).result()).value);
  await step('fails', async () => (await E(E(code).run(FAILS)).result()).value);
}
