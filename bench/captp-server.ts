/**
 * The serving process of `captp.ts`. It serves every wire on a port of its own, sends the ports to its
 * parent, and reports its memory on demand.
 */
import './lockdown.ts';
import { listen, type WireName, wireNames, wires } from './captp-wires.ts';

export type Ports = Readonly<Record<WireName, number>>;

process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ used: heapUsed + external, rss });
});
const ports = await Promise.all(wireNames.map(async (name) => [name, await listen(wires[name])] as const));
process.send?.(Object.fromEntries(ports));
