/**
 * The victim as a process of its own, so that what is measured is what its peers cost it, and nothing else.
 * The parent asks by IPC.
 *
 * CPU, not time: other programs of the machine do not count. The event loop's longest block is the CPU time
 * between two rounds of a timer that is due each millisecond, so it may be the sum of several messages that
 * arrived together.
 */
import { openVictim } from './target.ts';

export interface Figures {
  /** ms of CPU: the longest that hearing one frame took, and the longest round of the event loop. */
  readonly frame: number;
  readonly loop: number;
  /** Bytes of heap and buffers, after gc. */
  readonly kept: number;
  readonly leftovers: readonly string[];
  readonly open: number;
}

const victim = await openVictim();
const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
let last = cpu();
let loop = 0;
let counting = true;
setInterval(() => {
  const now = cpu();
  if (counting) loop = Math.max(loop, now - last);
  last = now;
}, 1);

function kept(): number {
  counting = false;
  for (let i = 0; i < 3; i += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

process.on('message', () => {
  const figures: Figures = {
    frame: victim.longest(),
    loop,
    kept: kept(),
    leftovers: victim.leftovers(),
    open: victim.open,
  };
  setTimeout(() => {
    loop = 0;
    last = cpu();
    counting = true;
    process.send?.(figures);
  }, 5);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ port: victim.port });
