/**
 * The agents of `asking.ts`.
 *
 *   asking-agent.ts URL polite MS SECRET…            calls every 5 ms, and prints its p99 in ms
 *   asking-agent.ts URL flood same|other SECRET     sends requests until it is killed
 */
import './lockdown.ts';
import { connect, E } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';

interface Session {
  cap(name: string): { ring(): string };
  request(ask: object): object;
}

const [url = '', what = '', how = '', ...secrets] = process.argv.slice(2);
process.on('disconnect', () => process.exit(1));
const open: readonly Connected<Session>[] = await Promise.all(
  secrets.map((secret) => connect<Session>(url, { secret })),
);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

if (what === 'flood') {
  process.send?.('ready');
  let n = 0;
  const ask = async (): Promise<void> => {
    for (;;) {
      n += 1;
      const uses = how === 'same' ? 1 : n;
      await E(open[0]!.bootstrap).request({ asks: 'bell', terms: { uses }, why: 'x'.repeat(200) }).catch(() => {}); // biome-ignore format: one line
    }
  };
  await Promise.all(Array.from({ length: 256 }, ask));
}

const took: number[] = [];
const until = performance.now() + Number(how);
await Promise.all(
  open.map(async ({ bootstrap }) => {
    const bell = E(bootstrap).cap('bell');
    await E(bell).ring();
    while (performance.now() < until) {
      const began = performance.now();
      await E(bell).ring();
      took.push(performance.now() - began);
      await pause(5);
    }
  }),
);
took.sort((a, b) => a - b);
process.send?.(took[Math.floor(took.length * 0.99)]);
for (const connection of open) connection.close();
process.disconnect?.();
process.exit(0);
